"""What comes after pretraining: a model that answers, and weights that change little.

chat.py       prompts and answers as tokens, with who speaks; a model with room for these tokens
examples.py   requests for stories as batches in which only answers are scored, with the floor of the loss
lora.py       low-rank changes of frozen weights (Hu et al. 2021)
finetune.py   begin a run from another run's weights; `train` is that of training.py, with these beginnings
"""

from course_lib.tuning.finetune import train

__all__ = ["train"]
