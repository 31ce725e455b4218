import { expect, test } from 'vitest'
import { blockDevicesOf, describeContents, holdsKnownData } from './contents.js'
import { unknown, type Known } from './known.js'
import type { Namespace } from './machine.js'

const nothing = unknown('udev has no format')

function namespace(name: string, format: Known<string>, ...partitions: Known<string>[]): Namespace {
  return {
    ...{ name, sizeBytes: 4096, blockBytes: 512, maxTransferBytes: undefined, format },
    partitions: partitions.map((each, index) => ({ name: `${name}p${index + 1}`, sizeBytes: 512, format: each })),
  }
}

const NTFS = namespace('nvme0n1', 'gpt', 'vfat', nothing, 'ntfs', 'ntfs')

test.each([
  [[NTFS], '4 partitions: vfat, unknown, ntfs'],
  [[namespace('nvme0n1', 'gpt', nothing)], '1 partition, contents unknown'],
  [[namespace('nvme0n1', 'crypto_LUKS')], 'holds crypto_LUKS'],
  [[namespace('nvme0n1', 'gpt')], 'holds gpt'],
  [[namespace('nvme0n1', nothing)], 'contents unknown'],
  [[namespace('nvme0n1', 'ext4'), namespace('nvme0n2', nothing)], 'nvme0n1 holds ext4; nvme0n2 contents unknown'],
  [[namespace('nvme0n1', 'a\u001b[2J')], 'holds a\\u{1b}[2J'],
  [[], 'contents unknown'],
  [unknown('no driver'), 'contents unknown'],
])('describeContents of %j', (namespaces, text) => {
  expect(describeContents(namespaces)).toBe(text)
})

test.each([
  [[NTFS], true],
  [[namespace('nvme0n1', nothing, nothing)], true],
  [[namespace('nvme0n1', 'ext4')], true],
  [[namespace('nvme0n1', nothing)], false],
  [unknown('no driver'), false],
])('holdsKnownData of %j is %s', (namespaces, holds) => {
  expect(holdsKnownData(namespaces)).toBe(holds)
})

test('blockDevicesOf lists a namespace before its partitions', () => {
  const named = ({ name, contents }: { name: string; contents: string }) => `${name} ${contents}`
  expect(blockDevicesOf([NTFS]).map(named)).toEqual([
    'nvme0n1 gpt',
    'nvme0n1p1 vfat',
    'nvme0n1p2 contents unknown',
    'nvme0n1p3 ntfs',
    'nvme0n1p4 ntfs',
  ])
  expect(blockDevicesOf(unknown('no driver'))).toEqual([])
})
