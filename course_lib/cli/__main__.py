"""`python -m course_lib.cli`, where the command `course` is not on the path."""

from course_lib.cli import main

main()
