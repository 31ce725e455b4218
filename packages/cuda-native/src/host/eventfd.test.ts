import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { run } from '../../test/child.js'
import { isBuilt, native, skipped, sockets } from '../../test/native.js'

/** asm-generic/ioctls.h: with 0, clears O_NONBLOCK of the open file, which processes and threads may share. */
const FIONBIO = 0x5421
const O_NONBLOCK = 0o4000
/** Maximum count: any write other than 0 waits for a reader. */
const FULL = 0xffff_ffff_ffff_fffen

const write = (fd: number, count: bigint) => writeSync(fd, new Uint8Array(new BigUint64Array([count]).buffer))
const clearFlag = (fd: number) => native.ioctl(fd, FIONBIO, new Uint8Array(4))
const infoOf = (fd: number) => readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')
const countOf = (fd: number) => BigInt(`0x${/^eventfd-count:\s*([0-9a-f]+)$/m.exec(infoOf(fd))![1]!}`)
const blocks = (fd: number) => (parseInt(/^flags:\s*(\d+)$/m.exec(infoOf(fd))![1]!, 8) & O_NONBLOCK) === 0

/** Returns a blocking eventfd, as another process may pass it. */
function blocking(count: bigint): Disposable & { readonly fd: number } {
  const fd = sockets.eventfd()
  if (count > 0n) write(fd, count)
  clearFlag(fd)
  expect([blocks(fd), countOf(fd)]).toEqual([true, count])
  return { fd, [Symbol.dispose]: () => closeSync(fd) }
}

describe.skipIf(!isBuilt)(`signalEventfd and drainEventfd${skipped}`, () => {
  test('drain several signals at once', () => {
    using event = blocking(0n)
    for (let count = 0; count < 3; count++) sockets.signalEventfd(event.fd)
    expect(countOf(event.fd)).toBe(3n)
    expect([1, 2].map(() => sockets.drainEventfd(event.fd))).toEqual([true, false])
    sockets.signalEventfd(event.fd)
    expect([1, 2].map(() => native.drainEventfd(event.fd))).toEqual([true, false])
    expect(countOf(event.fd)).toBe(0n)
  })

  test('treat a blocking eventfd with a full count as signalled', () => {
    using event = blocking(FULL)
    sockets.signalEventfd(event.fd)
    expect(countOf(event.fd)).toBe(FULL)
    expect(sockets.drainEventfd(event.fd)).toBe(true)
    sockets.signalEventfd(event.fd)
    expect(countOf(event.fd)).toBe(1n)
  })

  test('do not wait on an empty blocking eventfd, also if O_NONBLOCK is cleared repeatedly', () => {
    using event = blocking(0n)
    for (let round = 0; round < 100; round++) {
      clearFlag(event.fd)
      expect(sockets.drainEventfd(event.fd)).toBe(false)
      clearFlag(event.fd)
      sockets.signalEventfd(event.fd)
      expect(sockets.drainEventfd(event.fd)).toBe(true)
    }
  })

  test('leave O_NONBLOCK set after a signal', () => {
    using event = blocking(0n)
    sockets.signalEventfd(event.fd)
    expect(blocks(event.fd)).toBe(false)
  })

  // A call that waits would wait forever; the process is then killed, which fails the test.
  test('never wait although another thread constantly drains the eventfd and clears O_NONBLOCK', async () => {
    const code = `
      import { once } from 'node:events'
      import { Worker } from 'node:worker_threads'
      import { nativeHostModule } from '@gpunvme/cuda-native/host'
      const fd = host.eventfd()
      const hostile = \`
        const { workerData: data, parentPort: port } = require('node:worker_threads')
        import(data.module).then(({ loadHardwareHost }) => {
          const { ioctl, drainEventfd } = loadHardwareHost()
          const argument = new Uint8Array(4)
          port.postMessage('ready')
          for (;;) {
            ioctl(data.fd, ${FIONBIO}, argument)
            drainEventfd(data.fd)
          }
        })\`
      const worker = new Worker(hostile, { eval: true, workerData: { module: nativeHostModule.href, fd }, execArgv: [] })
      await once(worker, 'message')
      let drained = 0
      for (let round = 0; round < 200_000; round++) {
        host.signalEventfd(fd)
        if (host.drainEventfd(fd)) drained++
      }
      console.log(JSON.stringify(drained > 0))
      process.exit(0)`
    expect(await run(code)).toBe(true)
  }, 120_000)

  test('throw the cause for invalid descriptors', () => {
    const signalEventfd = (fd: number) => {
      sockets.signalEventfd(fd)
    }
    const drainEventfd = (fd: number) => sockets.drainEventfd(fd)
    for (const call of [signalEventfd, drainEventfd]) {
      expect(() => call(-1)).toThrow(RangeError)
      expect(() => call('1' as never)).toThrow(new TypeError('fd: expected a number, got a string'))
      expect(() => call(2 ** 30)).toThrow(expect.objectContaining({ code: 'EBADF', errno: -9 }))
    }
    const readable = openSync('/dev/null', 'r')
    const writable = openSync('/dev/null', 'w')
    expect(() => signalEventfd(readable)).toThrow(expect.objectContaining({ code: 'EBADF', syscall: 'write' }))
    expect(() => drainEventfd(writable)).toThrow(expect.objectContaining({ code: 'EBADF', syscall: 'read' }))
    for (const fd of [readable, writable]) closeSync(fd)
  })

  test('signal a count that an ordinary read returns', () => {
    using event = blocking(0n)
    sockets.signalEventfd(event.fd)
    const count = new Uint8Array(8)
    expect(readSync(event.fd, count)).toBe(8)
    expect([...count]).toEqual([1, 0, 0, 0, 0, 0, 0, 0])
  })
})
