"""Serving: a trained model made small.

quantise.py         weights in 8 or 4 bits: codes, and the scales that they are multiplied by
quantised.py        a GPT that computes with them, and its file
"""
