from course_lib.cuda.errors import CompileError


def explain(log, text, kind):
    e = CompileError(log[:3000], log)
    e.in_entries = False
    return e
