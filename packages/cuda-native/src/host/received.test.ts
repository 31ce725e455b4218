import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { isBuilt, skipped, sockets } from '../../test/native.js'
import { memoryFile, scratchFile } from '../../test/scratch-file.js'
import { openDescriptors, socketPair } from '../../test/socket-pair.js'

const SECOND_NS = 1_000_000_000

/** Returns the kind of each descriptor after it has been received. */
function received(sent: readonly number[], kinds?: 'memory-and-eventfds'): string[] {
  using pair = socketPair()
  sockets.send(pair.client, Uint8Array.of(1), Int32Array.from(sent), SECOND_NS)
  const descriptors = new Int32Array(17)
  expect(sockets.receive(pair.server, new Uint8Array(1), descriptors, kinds)).toBe(1)
  const found = [...descriptors.subarray(1, 1 + descriptors[0]!)]
  const identities = found.map((fd) => identityOf(fd))
  found.forEach((fd) => closeSync(fd))
  return identities
}

function identityOf(fd: number): string {
  const { dev, ino } = fstatSync(fd)
  return `${dev} ${ino}`
}

const NULL = (({ dev, ino }) => `${dev} ${ino}`)(statSync('/dev/null'))

/** Child processes of this thread that have not been reaped. */
const children = () => readFileSync('/proc/thread-self/children', 'utf8').trim()

describe.skipIf(!isBuilt)(`received descriptors${skipped}`, () => {
  test('are all accepted from a trusted process', () => {
    using memory = memoryFile(new Uint8Array(1))
    const sent = [memory.fd, openSync('/', 'r'), openSync('/dev/zero', 'r')]
    expect(received(sent)).toEqual(sent.map(identityOf))
    sent.slice(1).forEach((fd) => closeSync(fd))
  })

  test('are replaced by /dev/null unless they are memory or eventfds, and no process remains', async () => {
    using memory = memoryFile(new Uint8Array(1))
    using pair = socketPair()
    const kept = [memory.fd, sockets.eventfd()]
    const others = [openSync('/', 'r'), openSync('/dev/zero', 'r'), openSync('/proc/version', 'r'), pair.client]
    const [childrenBefore, openBefore] = [children(), openDescriptors()]
    const found = received([...kept, ...others], 'memory-and-eventfds')
    expect(found).toEqual([...kept.map(identityOf), ...others.map(() => NULL)])
    expect(children()).toBe(childrenBefore)
    // Another process closes the descriptors.
    while (openDescriptors() > openBefore) await new Promise((resolve) => setTimeout(resolve, 1))
    for (const fd of [kept[1]!, ...others.slice(0, 3)]) closeSync(fd)
  })

  test('of files on a disk are not memory', () => {
    using file = scratchFile(new Uint8Array(1))
    const isTmpfs = statSync(file.path).dev === statSync('/dev/shm').dev
    expect(received([file.fd], 'memory-and-eventfds')).toEqual([isTmpfs ? identityOf(file.fd) : NULL])
  })
})
