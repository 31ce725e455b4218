import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf } from '../../test/figures.js'
import { ChangedAllocatedNamespaceList, ChangedAttachedNamespaceList } from './log-namespaces.js'

describe.each([
  ['Changed Attached Namespace List (LID 04h, Base 2.3 §5.2.12.1.5)', ChangedAttachedNamespaceList],
  ['Changed Allocated Namespace List (LID 1Ch, Base 2.3 §5.2.12.1.27)', ChangedAllocatedNamespaceList],
])('%s', (_title, list) => {
  it('is up to 1,024 identifiers of 32 bits', () => {
    expect([list.bytes, ...bytesOf(list)]).toEqual([4096, ['NSID', 0, 4096]])
    const { NSID } = list.decode(sparse(4096, { 0: '01 00 00 00 04 03 02 01', 4092: 'fe ff ff ff' }))
    expect([NSID.length, NSID[0], NSID[1], NSID[2], NSID[1023]]).toEqual([1024, 1, 0x0102_0304, 0, 0xffff_fffe])
  })

  it('begins with FFFFFFFFh where more changed', () => {
    expect(list.view(sparse(4096, { 0: 'ff ff ff ff' })).NSID[0]).toBe(0xffff_ffff)
  })
})
