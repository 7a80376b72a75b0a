"""Tags of ops, built in and a program's own."""

import pytest

import taeda


def test_tags_of_built_in_ops():
    Tag = taeda.Tag
    assert Tag.pointwise in taeda.ops.aten.sin.default.tags and Tag.reduction in taeda.ops.aten.amax.default.tags
    assert Tag.inplace in taeda.ops.aten.add_.Tensor.tags and Tag.out in taeda.ops.aten.add.out.tags
    assert Tag.nondeterministic_seeded in taeda.ops.aten.bernoulli.default.tags
    assert all(Tag.pt2_compliant_tag in op.tags for op in (taeda.ops.aten.mm.default, taeda.ops.aten.relu.default))
    assert repr(Tag.core) == "<Tag.core: 0>" and int(Tag(3)) == 3


def test_tags_that_a_program_gives():
    Tag = taeda.Tag
    taeda.library.define("small_names::tagged", "(Tensor x) -> Tensor", tags=(Tag.pointwise, Tag.core))
    assert taeda.ops.small_names.tagged.default.tags == [Tag.pointwise, Tag.core]
    taeda.library.define("small_names::one_tag", "(Tensor x) -> Tensor", tags=Tag.core)
    assert taeda.ops.small_names.one_tag.default.tags == [Tag.core]
    with pytest.raises(TypeError, match="Tag"):
        taeda.library.define("small_names::wrong", "(Tensor x) -> Tensor", tags=["core"])
