"""Random sparse tensors, as methods of `TestCase`."""

import numpy as np
import torch


def make_tensor(*a, **k):
    return torch.testing.make_tensor(*a, **k)


class SparseSamples:
    def safeToDense(self, t):
        return t.coalesce().to_dense() if getattr(t, "layout", None) == torch.sparse_coo else t.to_dense()

    def safeCoalesce(self, t):
        return t.coalesce()

    def genSparseTensor(self, size, sparse_dim, nnz, is_uncoalesced, device, dtype):
        size = tuple(size)
        if any(s == 0 for s in size[:sparse_dim]) and nnz > 0:
            raise AssertionError("invalid nnz")
        v = make_tensor(
            (nnz,) + size[sparse_dim:],
            device=device,
            dtype=dtype,
            low=-1 if dtype.is_floating_point or dtype.is_complex else None,
            high=1 if dtype.is_floating_point or dtype.is_complex else None,
        )
        i = torch.rand(sparse_dim, nnz) * torch.tensor(size[:sparse_dim], dtype=torch.get_default_dtype()).unsqueeze(1)
        i = i.to(torch.long)
        if is_uncoalesced:
            v = torch.cat([v, torch.randn_like(v) if v.is_floating_point() or v.is_complex() else v.clone()], 0)
            i = torch.cat([i, i], 1)
        x = torch.sparse_coo_tensor(i, v, size, dtype=dtype, device=device)
        if not is_uncoalesced:
            x = x.coalesce()
        else:
            x = x.detach().clone()._coalesced_(False)
        return x, x._indices().clone(), x._values().clone()

    def genSparseCompressedTensor(self, size, nnz, *, layout, device, dtype, index_dtype, blocksize=(), dense_dims=0):
        """Random compressed tensor: every batch entry has nnz stored elements (blocks)."""
        size = tuple(size)
        n = len(size)
        row, col = size[n - dense_dims - 2], size[n - dense_dims - 1]
        bh, bw = blocksize if blocksize else (1, 1)
        byrow = layout in (torch.sparse_csr, torch.sparse_bsr)
        nr, nc = row // bh, col // bw
        outer, inner = (nr, nc) if byrow else (nc, nr)
        batch, dense = size[: n - dense_dims - 2], size[n - dense_dims :]
        nnz = min(nnz, outer * inner)
        comp, plain = [], []
        for _ in range(int(np.prod(batch, dtype=int))):
            cells = np.sort(np.random.permutation(outer * inner)[:nnz]) if outer * inner else np.zeros(0, int)
            o = cells // inner if inner else cells
            comp.append(
                np.concatenate([[0], np.cumsum(np.bincount(o, minlength=outer)[:outer])]) if outer else np.zeros(1, int)
            )
            plain.append(cells % inner if inner else cells)
        comp = np.array(comp, dtype=np.int64).reshape(batch + (outer + 1,))
        plain = np.array(plain, dtype=np.int64).reshape(batch + (nnz,))
        values = make_tensor(
            batch + (nnz,) + (tuple(blocksize) if blocksize else ()) + dense, dtype=dtype, device=device
        )
        return torch.sparse_compressed_tensor(
            torch.from_numpy(comp).to(index_dtype),
            torch.from_numpy(plain).to(index_dtype),
            values,
            size,
            dtype=dtype,
            layout=layout,
            device=device,
        )

    def genSparseCSRTensor(self, size, nnz, *, device, dtype, index_dtype, dense_dims=0):
        return self.genSparseCompressedTensor(
            size,
            nnz,
            layout=torch.sparse_csr,
            device=device,
            dtype=dtype,
            index_dtype=index_dtype,
            dense_dims=dense_dims,
        )

    def genSparseCSCTensor(self, size, nnz, *, device, dtype, index_dtype, dense_dims=0):
        return self.genSparseCompressedTensor(
            size,
            nnz,
            layout=torch.sparse_csc,
            device=device,
            dtype=dtype,
            index_dtype=index_dtype,
            dense_dims=dense_dims,
        )

    def genSparseBSRTensor(self, size, blocksize, nnz, *, device, dtype, index_dtype, dense_dims=0):
        return self.genSparseCompressedTensor(
            size,
            nnz,
            layout=torch.sparse_bsr,
            device=device,
            dtype=dtype,
            index_dtype=index_dtype,
            blocksize=blocksize,
            dense_dims=dense_dims,
        )

    def genSparseBSCTensor(self, size, blocksize, nnz, *, device, dtype, index_dtype, dense_dims=0):
        return self.genSparseCompressedTensor(
            size,
            nnz,
            layout=torch.sparse_bsc,
            device=device,
            dtype=dtype,
            index_dtype=index_dtype,
            blocksize=blocksize,
            dense_dims=dense_dims,
        )

    def generate_simple_inputs(
        self,
        layout,
        device=None,
        dtype=None,
        index_dtype=None,
        pin_memory=None,
        members_pin_memory=None,
        enable_batch=True,
        enable_hybrid=True,
        enable_zero_sized=True,
        enable_non_contiguous_indices=True,
        enable_non_contiguous_values=True,
        enable_batch_variable_nse=False,
        output_tensor=True,
        patterns=None,
    ):
        """A few small tensors of the given layout (a smaller set than upstream's)."""
        device, dtype, index_dtype = device or "cpu", dtype or torch.get_default_dtype(), index_dtype or torch.int64
        blocked = layout in (getattr(torch, "sparse_bsr", 0), getattr(torch, "sparse_bsc", 0))
        block = (2, 3) if blocked else ()
        shapes = [((4, 6), 0)] + ([((2, 4, 6), 0)] if enable_batch and layout != torch.sparse_coo else [])
        shapes += [((4, 6, 2), 1)] if enable_hybrid else []
        shapes += [((0, 6), 0)] if enable_zero_sized else []
        for size, dense in shapes:
            if layout == torch.strided:
                yield make_tensor(size, dtype=dtype, device=device)
                continue
            if layout == torch.sparse_coo:
                nnz = 0 if 0 in size else 5
                sd = len(size) - dense
                cells = np.sort(np.random.permutation(int(np.prod(size[:sd])))[:nnz])
                idx = torch.from_numpy(
                    np.array(np.unravel_index(cells, size[:sd]) if nnz else np.zeros((sd, 0)), dtype=np.int64)
                )
                val = make_tensor((nnz,) + size[sd:], dtype=dtype, device=device)
                if output_tensor:
                    yield torch.sparse_coo_tensor(idx, val, size, dtype=dtype, device=device)
                else:
                    yield (idx, val), dict(device=device, dtype=dtype, size=size)
                continue
            t = self.genSparseCompressedTensor(
                size,
                0 if 0 in size else 3,
                layout=layout,
                device=device,
                dtype=dtype,
                index_dtype=index_dtype,
                blocksize=block,
                dense_dims=dense,
            )
            if output_tensor:
                yield t
            else:
                byrow = layout in (torch.sparse_csr, torch.sparse_bsr)
                yield (
                    ((t.crow_indices(), t.col_indices()) if byrow else (t.ccol_indices(), t.row_indices()))
                    + (t.values(),),
                    dict(device=device, dtype=dtype, size=size),
                )
