"""The bodies of `course bench`: each module measures one part against its bar and prints a table."""
