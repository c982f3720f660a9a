"""What comes after pretraining: a model that answers, and weights that change little.

chat.py       prompts and answers as tokens, with who speaks; a model with room for these tokens
examples.py   requests for stories as batches in which only answers are scored, with the floor of the loss
lora.py       low-rank changes of frozen weights (Hu et al. 2021)
policy.py     a model as a policy: log-probabilities, entropy, the losses of policy gradients
reward.py     what a text is worth, and which of its tokens earned that
rollouts.py   a run that writes, is judged and learns
tiny.py       a grammar of eight texts, on which gradients and their estimates are exact
diversity.py  does a model say as much as true stories do?
finetune.py   begin a run from another run's weights; `train` is that of training.py, with these beginnings
"""

from course_lib.tuning.finetune import train

__all__ = ["train"]
