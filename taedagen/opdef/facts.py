"""What a declaration tells of its op besides how it is computed: samples for tests, how ``vmap`` batches it, flops.

The options are ``samples=``, ``domain=``, ``batch=`` and ``flops=``. Nothing of them reaches the library.
"""

from __future__ import annotations

from taedagen.opdef.declaration import Declaration, Registry
from taedagen.opdef.samples import Interval, Sample, mistake_in_samples


def samples_of(declaration: Declaration, registry: Registry) -> list[Sample] | None:
    """The samples of a declaration; None where they follow from types.

    An op in place without samples has those of the op that is not.

    Raises:
        DeclarationError: it names an op that there is not.
    """
    samples, followed = declaration.options.get("samples"), []
    while isinstance(samples, str):
        other = registry.find(samples)
        if other is None or samples in followed:
            wrong = "there is no op" if other is None else "samples go in a circle by"
            raise declaration.fail(f"samples='{samples}': {wrong} '{samples}'")
        followed.append(samples)
        samples = other.options.get("samples")
        mistake = mistake_in_samples(declaration.schema, samples or [])
        if mistake:
            raise declaration.fail(f"samples='{followed[0]}': {mistake}")
    if samples is None and declaration.name.endswith("_"):
        plain = registry.find(declaration.schema.full_name.replace(declaration.name, declaration.name[:-1], 1))
        return None if plain is None else samples_of(plain, registry)
    return samples


def domain_of(declaration: Declaration, registry: Registry) -> dict[str, Interval]:
    """The intervals that samples of a declaration draw from, by argument.

    One that says nothing has that of another overload, or of the op that is not in place.

    Raises:
        DeclarationError: it names an op that there is not.
    """
    own = declaration.options.get("domain")
    others = registry.named(own if isinstance(own, str) else declaration.name.rstrip("_"))
    if isinstance(own, str) and not others:
        raise declaration.fail(f"domain='{own}': there is no op '{own}'")
    for candidate in (declaration, *others):
        domain = candidate.options.get("domain")
        if domain is not None and not isinstance(domain, str):
            return domain if isinstance(domain, dict) else dict.fromkeys(declaration.schema.names, domain)
    return {}


def check(registry: Registry) -> None:
    """Raises DeclarationError for facts that name what there is not."""
    for declaration in registry.declarations:
        samples_of(declaration, registry)
        domain_of(declaration, registry)
