"""The course as a web site."""
