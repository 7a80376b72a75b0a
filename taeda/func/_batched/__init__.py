"""All examples of a ``vmap`` at once: tensors that hold a batch and show one example, and what each op does to them.

tensor.py has the tensors, rules.py finds an op's rule. Each public function of the other files is a rule, which
declarations name: ``rule(batch, op, *args, **kwargs)``, with keyword-only parameters for what declarations may add.
"""
