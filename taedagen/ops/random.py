"""Random numbers. Every op draws from ``generator``, or from the default one of the device."""

from taedagen.opdef import *
from taedagen.opdef.samples import Name, S, f, v

_FACTORY = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_INTEGER = "ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None"
_LIKE = f"{_FACTORY}, MemoryFormat? memory_format=None"


# --- filling a tensor


@kernel("uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
        variants="method", files="random_ops", batch="draw")  # fmt: skip
def uniform_(self, from_, to, generator):
    """Fills ``self`` with numbers spread evenly over [from, to); RuntimeError if from > to."""


@uniform_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
        variants="method", files="random_ops", batch="draw")  # fmt: skip
def normal_(self, mean, std, generator):
    """Fills ``self`` from a normal distribution; RuntimeError if ``std`` is negative."""


@normal_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
        variants="method", files="random_ops", batch="draw", samples=[S(f(2, 3), -3, 9), S(f(2, 3), 3, 3)])  # fmt: skip
def random_from(self, from_, to, generator):
    """Fills ``self`` with integers from ``from`` to ``to - 1``; without ``to`` up to the largest that its dtype
    holds."""


@random_from.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@composite("random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)", variants="method",
           batch="draw", samples=[S(f(2, 3), 9)])  # fmt: skip
def random_to(self, to, generator):
    """Fills ``self`` with integers from 0 to ``to - 1``."""
    self.random_(0, to, generator=generator)
    return self


@kernel("random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", variants="method", files="random_ops",
        batch="draw")  # fmt: skip
def random_(self, generator):
    """Fills ``self`` with integers from 0 to the largest that its dtype holds; floats up to 2 to their digits."""


@random_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)", variants="method",
        files="random_ops", batch="written_elementwise", samples=[S(f(2, 3), f(2, 3, low=0, high=1))])  # fmt: skip
def bernoulli_tensor_(self, p, generator):
    """Fills ``self`` with ones with the probabilities ``p``, which expand to its shape, else zeros."""


@bernoulli_tensor_.backward
def _(grad, p):
    return {"self": op.zeros_like(grad), "p": op.zeros_like(p)}


@kernel("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)", variants="method",
        files="random_ops", batch="draw", samples=[S(f(2, 3), 0.3), S(f(2, 3), 1.5)])  # fmt: skip
def bernoulli_(self, p, generator):
    """Fills ``self`` with ones with probability ``p``, else zeros; RuntimeError unless 0 <= p <= 1."""


@bernoulli_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)", variants="method",
        files="random_ops", batch="draw")  # fmt: skip
def exponential_(self, lambd, generator):
    """Fills ``self`` from the exponential distribution of rate ``lambd`` > 0."""


@exponential_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)", variants="method",
        files="random_ops", batch="draw", samples="bernoulli_.float")  # fmt: skip
def geometric_(self, p, generator):
    """Fills ``self`` with the number of trials up to the first success, each of probability 0 < p < 1."""


@geometric_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)",
        variants="method", files="random_ops", batch="draw")  # fmt: skip
def cauchy_(self, median, sigma, generator):
    """Fills ``self`` from the Cauchy distribution of scale ``sigma`` > 0."""


@cauchy_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)",
        variants="method", files="random_ops", batch="draw")  # fmt: skip
def log_normal_(self, mean, std, generator):
    """Fills ``self`` with exponentials of numbers from a normal distribution, ``std`` > 0."""


@log_normal_.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


# --- from sizes. The overloads with ``generator`` are PyTorch's: there the keyword has no default.


@composite(f"rand(SymInt[] size, *, {_FACTORY}) -> Tensor", variants="function out",
           samples="empty.memory_format")  # fmt: skip
def rand(size, dtype, layout, device, pin_memory):
    """Numbers spread evenly over [0, 1)."""
    return op.rand(
        size,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(f"rand.generator(SymInt[] size, *, Generator? generator, {_FACTORY}) -> Tensor", variants="function out",
           samples=[S([2], generator=None)])  # fmt: skip
def rand_generator(size, generator, dtype, layout, device, pin_memory):
    """Numbers spread evenly over [0, 1)."""
    result = op.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.uniform_(0, 1, generator=generator)
    return result


@composite(f"randn(SymInt[] size, *, {_FACTORY}) -> Tensor", variants="function out",
           samples="empty.memory_format")  # fmt: skip
def randn(size, dtype, layout, device, pin_memory):
    """Numbers from the standard normal distribution; complex ones have unit variance too."""
    return op.randn(
        size,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(f"randn.generator(SymInt[] size, *, Generator? generator, {_FACTORY}) -> Tensor", variants="function out",
           samples="rand.generator")  # fmt: skip
def randn_generator(size, generator, dtype, layout, device, pin_memory):
    """Numbers from the standard normal distribution; complex ones have unit variance too."""
    result = op.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.normal_(0, 1, generator=generator)
    return result


@composite(f"randint(SymInt high, SymInt[] size, *, {_INTEGER}) -> Tensor", variants="function out",
           samples=[S(5, [2, 3]), S(5, [4], dtype=Name("float32"))])  # fmt: skip
def randint(high, size, dtype, layout, device, pin_memory):
    """Integers from ``low`` (0 if not given) to ``high - 1``."""
    return op.randint(
        0,
        high,
        size,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(f"randint.generator(SymInt high, SymInt[] size, *, Generator? generator, {_INTEGER}) -> Tensor",
           variants="function out", samples=[S(5, [3], generator=None)])  # fmt: skip
def randint_generator(high, size, generator, dtype, layout, device, pin_memory):
    """Integers from 0 to ``high - 1``."""
    return op.randint(
        0,
        high,
        size,
        generator=generator,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(f"randint.low(SymInt low, SymInt high, SymInt[] size, *, {_INTEGER}) -> Tensor", variants="function out",
           samples=[S(-3, 5, [2, 3]), S(3, 3, [2])])  # fmt: skip
def randint_low(low, high, size, dtype, layout, device, pin_memory):
    """Integers from ``low`` to ``high - 1``."""
    return op.randint(
        low,
        high,
        size,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
    )


@composite(
    f"randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, Generator? generator, {_INTEGER}) -> Tensor",
    variants="function out",
    samples=[S(-2, 5, [3], generator=None)],
)
def randint_low_generator(low, high, size, generator, dtype, layout, device, pin_memory):
    """Integers from ``low`` to ``high - 1``."""
    kind = dtype if dtype is not None else int64
    result = op.empty(size, dtype=kind, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.random_(low, high, generator=generator)
    return result


@kernel(f"randperm(SymInt n, *, {_INTEGER}) -> Tensor", variants="function out", shape="randperm", files="random_ops",
        samples=[S(6), S(0), S(1)])  # fmt: skip
def randperm(n, dtype, layout, device, pin_memory):
    """The integers from 0 to ``n - 1`` in random order."""


@kernel(f"randperm.generator(SymInt n, *, Generator? generator, {_INTEGER}) -> Tensor", variants="function out",
        shape="randperm", files="random_ops", samples=[S(6, generator=None)])  # fmt: skip
def randperm_generator(n, generator, dtype, layout, device, pin_memory):
    """The integers from 0 to ``n - 1`` in random order."""


# --- like another tensor


@composite(f"rand_like(Tensor self, *, {_LIKE}) -> Tensor", variants="function out")
def rand_like(self, dtype, layout, device, pin_memory, memory_format):
    """``rand`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    return op.rand_like(
        self,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@composite(f"rand_like.generator(Tensor self, *, Generator? generator, {_LIKE}) -> Tensor", variants="function out",
           samples=[S(f(3), generator=None)])  # fmt: skip
def rand_like_generator(self, generator, dtype, layout, device, pin_memory, memory_format):
    """``rand`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    result = op.empty_like(
        self,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )
    with unrecorded():
        result.uniform_(0, 1, generator=generator)
    return result


@composite(f"randn_like(Tensor self, *, {_LIKE}) -> Tensor", variants="function out")
def randn_like(self, dtype, layout, device, pin_memory, memory_format):
    """``randn`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    return op.randn_like(
        self,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@composite(f"randn_like.generator(Tensor self, *, Generator? generator, {_LIKE}) -> Tensor", variants="function out",
           samples="rand_like.generator")  # fmt: skip
def randn_like_generator(self, generator, dtype, layout, device, pin_memory, memory_format):
    """``randn`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    result = op.empty_like(
        self,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )
    with unrecorded():
        result.normal_(0, 1, generator=generator)
    return result


@composite(f"randint_like(Tensor self, SymInt high, *, {_LIKE}) -> Tensor", variants="function out", explicit=True,
           samples=[S(f(2, 3), 5)])  # fmt: skip
def randint_like(self, high, dtype, layout, device, pin_memory, memory_format):
    """``randint`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    return op.randint_like(
        self,
        0,
        high,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@composite(f"randint_like.generator(Tensor self, SymInt high, *, Generator? generator, {_LIKE}) -> Tensor",
           variants="function out", explicit=True, samples=[S(f(2, 3), 5, generator=None)])  # fmt: skip
def randint_like_generator(self, high, generator, dtype, layout, device, pin_memory, memory_format):
    """``randint`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    return op.randint_like(
        self,
        0,
        high,
        generator=generator,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@composite(f"randint_like.low_dtype(Tensor self, SymInt low, SymInt high, *, {_LIKE}) -> Tensor",
           variants="function out", explicit=True, samples=[S(f(2, 3), -3, 5)])  # fmt: skip
def randint_like_low(self, low, high, dtype, layout, device, pin_memory, memory_format):
    """``randint`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    return op.randint_like(
        self,
        low,
        high,
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@composite(
    f"randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, *, Generator? generator, {_LIKE}) "
    "-> Tensor",
    variants="function out",
    explicit=True,
    samples=[S(f(2, 3), -3, 5, generator=None)],
)
def randint_like_low_generator(self, low, high, generator, dtype, layout, device, pin_memory, memory_format):
    """``randint`` with the shape, dtype, device and strides of ``self``, but for what is given."""
    result = op.empty_like(
        self,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )
    with unrecorded():
        result.random_(low, high, generator=generator)
    return result


def _one_number(tensor):
    """The number in a tensor of one element."""
    check(
        tensor.numel() == 1,
        f"expected a tensor of one element; got shape {tensor.shape}",
    )
    return tensor.item()


@composite(f"randint_like.Tensor(Tensor self, Tensor high, *, {_LIKE}) -> Tensor", variants="function out",
           explicit=True, samples=[S(f(2, 3), v(5))])  # fmt: skip
def randint_like_tensor(self, high, dtype, layout, device, pin_memory, memory_format):
    """``randint_like`` with the end in a tensor of one element."""
    return op.randint_like(
        self,
        0,
        int(_one_number(high)),
        generator=None,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


@composite(f"randint_like.Tensor_generator(Tensor self, Tensor high, *, Generator? generator, {_LIKE}) -> Tensor",
           variants="function out", explicit=True, samples=[S(f(2, 3), v(5), generator=None)])  # fmt: skip
def randint_like_tensor_generator(self, high, generator, dtype, layout, device, pin_memory, memory_format):
    """``randint_like`` with the end in a tensor of one element."""
    return op.randint_like(
        self,
        0,
        int(_one_number(high)),
        generator=generator,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        memory_format=memory_format,
    )


# --- with parameters in tensors


def _check_deviations(std):
    """Wants real numbers, none of them negative."""
    check(not std.is_complex(), f"deviations must be real; got {std.dtype}")
    if std.numel() > 0 and not std.is_meta:
        check(not bool((std < 0).any().item()), "no deviation may be negative")


@composite("normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
           variants="function out", batch="elementwise", samples=[S(f(2, 3), f(2, 3, low=0.1))])  # fmt: skip
def normal_tensors(mean, std, generator):
    """Numbers from normal distributions whose means and deviations broadcast; RuntimeError on a negative deviation."""
    _check_deviations(std)
    result = op.empty(broadcast_shapes(mean.shape, std.shape), dtype=mean.dtype, device=mean.device)
    result.normal_(0, 1, generator=generator)
    result.mul_(std)
    result.add_(mean)
    return result


@normal_tensors.backward
def _(grad, mean, std):
    return {"mean": op.zeros_like(mean), "std": op.zeros_like(std)}


@composite("normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
           variants="function out", batch="elementwise",
           samples=[S(f(2, 3), 0.5), S(f(2, 3), -1.0)])  # fmt: skip
def normal_mean(mean, std, generator):
    """Numbers from normal distributions with the given means."""
    result = op.empty_like(mean, memory_format=contiguous_format)
    result.normal_(0, std, generator=generator)
    result.add_(mean)
    return result


@normal_mean.backward
def _(grad):
    return {"mean": op.zeros_like(grad)}


@composite("normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
           variants="function out", batch="elementwise", samples=[S(0.5, f(2, 3, low=0.1))])  # fmt: skip
def normal_std(mean, std, generator):
    """Numbers from normal distributions with the given deviations."""
    _check_deviations(std)
    result = op.empty_like(std, memory_format=contiguous_format)
    result.normal_(0, 1, generator=generator)
    result.mul_(std)
    result.add_(mean)
    return result


@normal_std.backward
def _(grad):
    return {"std": op.zeros_like(grad)}


@composite(
    f"normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, {_FACTORY}) -> Tensor",
    variants="function out",
    samples=[S(0.0, 1.0, [2, 3])],
)
def normal(mean, std, size, generator, dtype, layout, device, pin_memory):
    """A tensor of ``size`` of numbers from one normal distribution."""
    result = op.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    with unrecorded():
        result.normal_(mean, std, generator=generator)
    return result


@composite("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", variants="function method out", out="any",
           batch="elementwise", domain=(0.1, 0.9))  # fmt: skip
def bernoulli(self, generator):
    """Ones with the probabilities ``self``, else zeros; RuntimeError unless all lie in [0, 1]."""
    result = op.empty_like(self, memory_format=contiguous_format)
    with unrecorded():
        result.bernoulli_(self, generator=generator)
    return result


@bernoulli.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@composite("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", variants="function method",
           batch="elementwise", samples=[S(f(2, 3), 0.3)])  # fmt: skip
def bernoulli_p(self, p, generator):
    """Ones with probability ``p``, else zeros, with the shape, dtype and strides of ``self``."""
    result = op.empty_like(self, memory_format=contiguous_format)
    with unrecorded():
        result.bernoulli_(p, generator=generator)
    return result


@bernoulli_p.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel(
    "multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
    variants="function method out",
    shape="multinomial",
    files="random_ops",
    out="same",
    not_differentiable=True,
    samples=[S(f(5, low=0.1, high=1), 3), S(f(2, 5, low=0.1, high=1), 8, True), S(f(2, low=0.1, high=1), 3)],
)
def multinomial(self, num_samples, replacement, generator):
    """Indices drawn with the weights ``self``, of shape (n) or (m, n), which need not add up to one.

    The result is int64 of shape (num_samples) or (m, num_samples). RuntimeError on negative weights, on rows of zeros
    and when more than n are drawn without replacement.
    """


@kernel("poisson(Tensor self, Generator? generator=None) -> Tensor", variants="function out", shape="random_like",
        files="random_ops", domain=(0.5, 5.0), batch="natural")  # fmt: skip
def poisson(self, generator):
    """Counts from Poisson distributions with the rates ``self`` >= 0."""


@poisson.backward
def _(grad):
    return {"self": op.zeros_like(grad)}


@kernel("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", variants="function out",
        shape="binomial", files="random_ops", batch="elementwise",
        samples=[S(v([5.0, 9.0], "float64"), v([0.3, 0.6], "float64"))])  # fmt: skip
def binomial(count, prob, generator):
    """How many of ``count`` trials succeed with probability ``prob`` each; the two broadcast."""


@binomial.backward
def _(grad, count, prob):
    return {"count": op.zeros_like(count), "prob": op.zeros_like(prob)}


@kernel("_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", variants="function out",
        shape="random_like", files="random_ops", domain=(0.5, 3.0), batch="natural")  # fmt: skip
def _standard_gamma(self, generator):
    """Numbers from gamma distributions with the concentrations ``self`` and rate 1."""


@_standard_gamma.backward
def _(grad, self, result):
    return {"self": grad * op._standard_gamma_grad(self, result)}


@kernel("_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", variants="function out", shape="random_pair",
        files="sampler_gradients", domain=(0.5, 3.0))  # fmt: skip
def _standard_gamma_grad(self, output):
    """How gamma samples move with their concentration when the quantile is held: dF/d concentration over the density.

    Source: Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018.
    """


@kernel("_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", variants="function out",
        shape="random_like", files="random_ops", domain=(0.5, 3.0), batch="natural")  # fmt: skip
def _sample_dirichlet(self, generator):
    """Points of the simplex from Dirichlet distributions with the concentrations in the last dimension of ``self``."""


@kernel("_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor", variants="function out",
        shape="random_triple", files="sampler_gradients",
        samples=[S(f(2, 3, of="distribution"), f(2, 3, low=0.5), f(2, 3, low=2, high=4))])  # fmt: skip
def _dirichlet_grad(x, alpha, total):
    """How beta(alpha, total - alpha) samples ``x`` move with ``alpha`` when the quantile is held, over ``1 - x``."""


# --- rectifier with random slopes


@composite(
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, "
    "Generator? generator=None) -> Tensor",
    variants="function inplace inplace_function",
)
def rrelu(self, lower, upper, training, generator):
    """``x`` where it is positive, else ``a * x`` with ``a`` drawn from [lower, upper), or their mean outside
    training."""
    check(float(lower) <= float(upper), f"lower ({lower}) must not exceed upper ({upper})")
    if training:
        return op._rrelu(self, lower, upper, generator)[0]
    return op.leaky_relu(self.contiguous(), (float(lower) + float(upper)) / 2)


@composite(
    "rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, "
    "bool training=False, Generator? generator=None) -> Tensor",
    module="nn",
    variants="function inplace out",
    samples=[S(f(2, 3), f(2, 3)), S(f(2, 3), f(2, 3), 0.1, 0.3, True)],
)
def rrelu_with_noise(self, noise, lower, upper, training, generator):
    """``rrelu`` that writes the slopes to ``noise`` when training."""
    check(
        self.shape == noise.shape,
        f"noise must have the shape of self {self.shape}; got {noise.shape}",
    )
    if not training:
        return op.rrelu(self, lower, upper, False, generator)
    output, slopes = op._rrelu(self, lower, upper, generator)
    noise.copy_(slopes)
    return output


@kernel(
    "_rrelu(Tensor self, Scalar lower, Scalar upper, Generator? generator) -> (Tensor output, Tensor noise)",
    shape="rrelu",
    files="random_ops",
    unbound=True,
    nondiff="noise",
    flat="self",
)
def _rrelu(self, lower, upper, generator):
    """``rrelu`` in training, and its slopes: 1 where ``self`` is positive."""


@_rrelu.backward
def _(grad, noise):
    return {"self": grad * noise}


@composite(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, "
    "bool training, bool self_is_result) -> Tensor",
    variants="function out",
    unbound=True,
)
def rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, self_is_result):
    """The gradient of ``rrelu_with_noise``."""
    low, high = float(lower), float(upper)
    if training and high - low > 1e-6:
        return grad_output * noise
    # Slopes are not negative: the result has the sign of self, so that it does not matter which of the two is given.
    return where(self > 0, grad_output, grad_output * ((low + high) / 2))
