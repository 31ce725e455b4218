import { expect, test } from 'vitest'
import { MAX_NAMESPACES } from '../admin/namespace-list.js'
import { namespaceFormat, type NamespaceIdentity } from '../bring-up/identity.js'
import type { NamespaceHost } from './host.js'
import { NamespaceSet } from './namespace-set.js'

const data = new DataView(new ArrayBuffer(4096))
const from = (first: number, count: number): NamespaceIdentity[] =>
  Array.from({ length: count }, (_, index) => namespaceFormat(first + index, data))

test('keeps the object of a namespace that is attached again, unless more than the limit were detached', () => {
  const set = new NamespaceSet({} as NamespaceHost, undefined, 1)
  set.take(from(1, 1))
  const first = set.get(1)
  set.take([])
  expect(first.identity.attached).toBe(false)
  set.take(from(1, MAX_NAMESPACES))
  expect(set.get(1)).toBe(first)
  set.take(from(10_000, 1))
  set.take(from(1, 1))
  expect(set.get(1)).toBe(first)
  // One more than the limit is detached.
  set.take(from(20_000, 1))
  set.take(from(1, 1))
  expect(set.get(1)).not.toBe(first)
  expect(first.identity.attached).toBe(false)
  expect(set.active).toHaveLength(1)
})
