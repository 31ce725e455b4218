import { expect, it } from 'vitest'
import { describeControllerCases, skippedByAll } from '../test/controller-cases.js'
import type { NamespaceOptions } from '../src/index.js'
import { controllerCases } from './index.js'

const MIB = 1024 * 1024

// Namespaces of every kind, and NSID 3 is inactive: this controller skips the fewest cases.
const namespaces: readonly NamespaceOptions[] = [
  { capacityBytes: 32 * MIB },
  { nsid: 2, capacityBytes: 4 * MIB, blockBytes: 4096 },
  { nsid: 4, capacityBytes: 4 * MIB, metadataBytes: 8 },
  { nsid: 5, capacityBytes: 4 * MIB, metadataBytes: 64, extendedLba: true },
]
describeControllerCases('ideal', { spareCapacityBytes: 4 * MIB, namespaces }, skippedByAll)

it('gives every controller case its own id', () => {
  const ids = controllerCases.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})
