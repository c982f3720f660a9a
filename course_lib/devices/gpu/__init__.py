"""The ops of the devices `simulator` and `cuda`: our own kernels in kernels/*.cu, and the code that launches them, written once."""
