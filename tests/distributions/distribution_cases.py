"""The distributions with parameters to try them with, as nested lists that become tensors of any library."""

from __future__ import annotations

from typing import Any

import numpy as np

COVARIANCE = [[2.0, 0.5, 0.1], [0.5, 1.5, 0.2], [0.1, 0.2, 1.0]]
FACTOR = np.linalg.cholesky(COVARIANCE).tolist()
ROWS = [[0.2, 0.3, 0.5], [1.0, 2.0, 0.0]]
LOCS = [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]

CASES: list[tuple[str, dict[str, Any]]] = [
    ("Bernoulli", {"probs": [0.1, 0.5, 0.8]}),
    ("Bernoulli", {"logits": [[-1.0], [2.0]]}),
    ("Bernoulli", {"probs": 0.3}),
    ("Beta", {"concentration1": [0.5, 2.0, 3.0], "concentration0": [0.6, 1.0, 4.0]}),
    ("Beta", {"concentration1": 2.0, "concentration0": 1.5}),
    ("Binomial", {"total_count": 5, "probs": [0.1, 0.5, 0.8]}),
    ("Binomial", {"total_count": [2.0, 3.0, 4.0], "logits": [0.1, -0.5, 0.8]}),
    ("Categorical", {"probs": ROWS}),
    ("Categorical", {"logits": [0.2, 0.3, 0.5]}),
    ("Cauchy", {"loc": [0.0, 1.0], "scale": [1.0, 2.0]}),
    ("Chi2", {"df": [0.5, 1.0, 3.0]}),
    ("ContinuousBernoulli", {"probs": [0.1, 0.5, 0.8, 0.4995]}),
    ("ContinuousBernoulli", {"logits": [-3.0, 0.001, 2.0]}),
    ("Dirichlet", {"concentration": [[0.5, 2.0, 3.0], [1.0, 1.0, 1.5]]}),
    ("Dirichlet", {"concentration": [0.5, 0.6, 0.7]}),
    ("Exponential", {"rate": [0.5, 2.0]}),
    ("FisherSnedecor", {"df1": [1.0, 3.0, 5.0], "df2": [1.5, 3.0, 7.0]}),
    ("Gamma", {"concentration": [0.3, 1.0, 4.0], "rate": [2.0, 1.0, 0.5]}),
    ("Gamma", {"concentration": 2, "rate": 3}),
    ("GeneralizedPareto", {"loc": [0.0, 1.0, 1.0], "scale": [1.0, 2.0, 0.5], "concentration": [-0.3, 0.0, 0.3]}),
    ("Geometric", {"probs": [0.1, 0.5, 1.0]}),
    ("Geometric", {"logits": [0.1, -0.5, 1.0]}),
    ("Gumbel", {"loc": [0.0, 1.0], "scale": [1.0, 2.0]}),
    ("Gumbel", {"loc": 0.0, "scale": 1.0}),
    ("HalfCauchy", {"scale": [1.0, 2.0]}),
    ("HalfNormal", {"scale": [1.0, 2.0]}),
    ("HalfNormal", {"scale": 2.0}),
    ("InverseGamma", {"concentration": [0.5, 1.5, 4.0], "rate": [2.0, 1.0, 0.5]}),
    ("Kumaraswamy", {"concentration1": [0.5, 2.0, 3.0], "concentration0": [0.6, 1.0, 4.0]}),
    ("LKJCholesky", {"dim": 3, "concentration": [0.5, 1.0, 3.0]}),
    ("LKJCholesky", {"dim": 2}),
    ("Laplace", {"loc": [0.0, 1.0], "scale": [1.0, 2.0]}),
    ("LogNormal", {"loc": [0.0, 1.0], "scale": [1.0, 0.2]}),
    ("LogisticNormal", {"loc": [0.0, 1.0], "scale": [1.0, 0.2]}),
    (
        "LowRankMultivariateNormal",
        {"loc": LOCS, "cov_factor": [[1.0, 0.5], [0.2, 0.3], [0.1, 0.9]], "cov_diag": [1.0, 2.0, 0.5]},
    ),
    ("Multinomial", {"total_count": 5, "probs": ROWS}),
    ("Multinomial", {"total_count": 3, "logits": [0.2, 0.3, 0.5]}),
    ("MultivariateNormal", {"loc": LOCS, "covariance_matrix": COVARIANCE}),
    ("MultivariateNormal", {"loc": LOCS[0], "precision_matrix": COVARIANCE}),
    ("MultivariateNormal", {"loc": LOCS[0], "scale_tril": [FACTOR, (2 * np.array(FACTOR)).tolist()]}),
    ("NegativeBinomial", {"total_count": 5, "probs": [0.1, 0.5, 0.8]}),
    ("NegativeBinomial", {"total_count": [2.0, 3.5, 4.0], "logits": [0.1, -0.5, 0.8]}),
    ("Normal", {"loc": [0.0, 1.0], "scale": [1.0, 2.0]}),
    ("Normal", {"loc": 0, "scale": 1}),
    ("OneHotCategorical", {"probs": ROWS}),
    ("OneHotCategoricalStraightThrough", {"logits": [0.2, 0.3, 0.5]}),
    ("Pareto", {"scale": [1.0, 2.0, 3.0], "alpha": [0.5, 1.5, 3.0]}),
    ("Poisson", {"rate": [0.5, 3.0, 40.0]}),
    ("RelaxedBernoulli", {"temperature": [0.5], "probs": [0.1, 0.5, 0.8]}),
    ("RelaxedBernoulli", {"temperature": [0.5], "logits": [0.1, 0.5, 0.8]}),
    ("RelaxedOneHotCategorical", {"temperature": [0.5], "probs": [[0.2, 0.3, 0.5], [1.0, 2.0, 0.1]]}),
    ("StudentT", {"df": [0.5, 1.5, 5.0], "loc": [0.0, 1.0, 2.0], "scale": [1.0, 2.0, 3.0]}),
    ("StudentT", {"df": 3}),
    ("Uniform", {"low": [0.0, 1.0], "high": [2.0, 1.5]}),
    ("VonMises", {"loc": [0.0, 1.0, 4.0], "concentration": [0.1, 2.0, 50.0]}),
    ("Weibull", {"scale": [1.0, 2.0], "concentration": [1.5, 3.0]}),
    ("Wishart", {"df": 4.5, "covariance_matrix": COVARIANCE}),
    ("Wishart", {"df": [4.0, 5.0], "precision_matrix": COVARIANCE}),
    ("Wishart", {"df": [4.0, 5.0], "scale_tril": FACTOR}),
]


def case_id(case: tuple[str, dict[str, Any]]) -> str:
    name, arguments = case
    return f"{name}-{'-'.join(f'{key}{np.shape(value)}' for key, value in arguments.items())}".replace(" ", "")


def parameters(arguments: dict[str, Any], library: Any, dtype: str, grad: bool = False) -> dict[str, Any]:
    """The arguments with tensors for lists."""
    return {
        key: library.tensor(value, dtype=getattr(library, dtype), requires_grad=grad)
        if isinstance(value, list)
        else value
        for key, value in arguments.items()
    }


def make(case: tuple[str, dict[str, Any]], library: Any, dtype: str = "float64", **more: Any) -> Any:
    name, arguments = case
    return getattr(library.distributions, name)(**parameters(arguments, library, dtype), **more)
