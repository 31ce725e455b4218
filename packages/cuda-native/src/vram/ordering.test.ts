import { expect, it } from 'vitest'
import { decideOrdering, DEVICE_ATTRIBUTE } from './ordering.js'

const flush = () => undefined
const kind = (writesOrdering: number, flushWritesOptions: number, given?: () => void) => {
  const decision = decideOrdering({ writesOrdering, flushWritesOptions }, given)
  return decision.kind === 'refused' ? decision.reason : decision.kind
}

it('a GPU with ordered writes needs no flush (ordering 100, 200)', () => {
  expect([kind(100, 0), kind(200, 0), kind(200, 3, flush)]).toEqual(['ordered', 'ordered', 'ordered'])
})

it('a GPU without ordered writes needs a host flush after each completion (ordering 0, option 1)', () => {
  expect(decideOrdering({ writesOrdering: 0, flushWritesOptions: 1 }, flush)).toEqual({ kind: 'flush', flush })
  expect(kind(0, 3, flush)).toBe('flush')
})

it('rejects a required flush that is not given', () => {
  expect(kind(0, 1)).toBe('flush-missing')
})

it('rejects GPUs that the host cannot flush', () => {
  expect([kind(0, 2, flush), kind(0, 0, flush)]).toEqual(['flush-unsupported', 'flush-unsupported'])
})

it('rejects unknown ordering', () => {
  expect(decideOrdering(undefined, flush)).toMatchObject({ kind: 'refused', reason: 'ordering-unknown' })
  expect(kind(50, 1, flush)).toBe('ordering-unknown')
})

it('has the attribute values of cuda.h', () => {
  expect(DEVICE_ATTRIBUTE).toEqual({
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: 117,
    GPU_DIRECT_RDMA_WRITES_ORDERING: 118,
    DMA_BUF_SUPPORTED: 124,
  })
})
