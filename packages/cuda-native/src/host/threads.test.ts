import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { describe, expect, test } from 'vitest'
import { isMapped } from '../../test/mappings.js'
import { isBuilt, native, skipped } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'

/** Starts a thread that runs `code` with the addon as `host`, a `port` to its parent, and `data`. */
function thread(code: string, workerData: unknown): Worker {
  const script = `
    const { parentPort: port, workerData: data } = require('node:worker_threads')
    import(data.module).then(async ({ loadHardwareHost }) => {
      const host = loadHardwareHost()
      ${code}
    })`
  const data = { module: nativeHostModule.href, ...(workerData as object) }
  return new Worker(script, { eval: true, workerData: data, execArgv: [] })
}

const nextMessage = async (worker: Worker): Promise<unknown> => ((await once(worker, 'message')) as [unknown])[0]

describe.skipIf(!isBuilt)(`memory and threads${skipped}`, () => {
  test('a view in another thread shares memory in both directions', async () => {
    const region = native.allocate(8192, 4096)
    const worker = thread(
      `const view = new DataView(host.view(data.address + 4096n, 16))
       port.postMessage(view.getUint32(0, true))
       view.setUint32(4, 0xcafe, true)
       port.postMessage('stored')`,
      { address: region.address },
    )
    // The thread may end before its messages are handled.
    const ended = once(worker, 'exit')
    region.store32(4096, 0xbeef)
    expect(await nextMessage(worker)).toBe(0xbeef)
    await ended
    expect(region.load32(4100)).toBe(0xcafe)
    region.unmap()
  })

  test('memory with a view in another thread is unmapped when that thread ends, not before', async () => {
    const region = native.allocate(4096, 4096)
    const { address } = region
    region.store32(0, 41)
    const worker = thread(
      `const view = new DataView(host.view(data.address, 4096))
       port.postMessage('viewed')
       port.on('message', () => port.postMessage(view.getUint32(0, true) + 1))`,
      { address },
    )
    await nextMessage(worker)
    region.unmap()
    expect(() => region.load32(0)).toThrow(/was unmapped/)
    expect(() => native.view(address, 4)).toThrow(RangeError)
    expect(isMapped(address)).toBe(true)
    worker.postMessage('read')
    expect(await nextMessage(worker)).toBe(42)
    await worker.terminate()
    expect(isMapped(address)).toBe(false)
  })

  test('memory that a thread allocated stays mapped however it ends, since a device may write to it', async () => {
    for (const ending of ['terminate', 'exit']) {
      const worker = thread(
        `const region = host.allocate(8192, 4096)
         region.store32(4096, 0xbeef)
         port.once('message', () => port.close())
         port.postMessage([region.address, region.buffer.byteLength])`,
        {},
      )
      const [address] = (await nextMessage(worker)) as [bigint]
      const ended = once(worker, 'exit')
      if (ending === 'exit') worker.postMessage('end')
      else await worker.terminate()
      await ended
      expect(isMapped(address), ending).toBe(true)
      expect(new DataView(native.view(address + 4096n, 4)).getUint32(0, true), ending).toBe(0xbeef)
    }
  })

  test('memory that a thread moved to another ArrayBuffer and posted stays mapped when the thread ends', async () => {
    using file = scratchFile(new Uint8Array(4096).fill(7))
    const worker = thread(
      `const region = host.map(data.fd, 0, 4096, 'read-write')
       const stream = new ReadableStream({ type: 'bytes', pull: ({ byobRequest }) => byobRequest.respond(1) })
       const { value } = await stream.getReader({ mode: 'byob' }).read(new Uint8Array(region.buffer))
       port.on('message', () => undefined)
       port.postMessage(value.buffer, [value.buffer])`,
      { fd: file.fd },
    )
    const bytes = new Uint8Array((await nextMessage(worker)) as ArrayBuffer)
    await worker.terminate()
    expect([...bytes.subarray(0, 2)]).toEqual([7, 7])
  })

  test('memory that a thread unmapped is not kept when it ends', async () => {
    const worker = thread(
      `const region = host.allocate(4096, 4096)
       const { address } = region
       region.unmap()
       port.postMessage(address)`,
      {},
    )
    const address = (await nextMessage(worker)) as bigint
    await worker.terminate()
    expect(() => native.view(address, 4096)).toThrow(RangeError)
  })

  test('a file mapping of a thread is unmapped when it ends, unless another thread has a view', async () => {
    using file = scratchFile(new Uint8Array(4096))
    const worker = thread(
      `const region = host.map(data.fd, 0, 4096, 'read-write')
       region.store32(0, 7)
       port.on('message', () => undefined)
       port.postMessage(region.address)`,
      { fd: file.fd },
    )
    const address = (await nextMessage(worker)) as bigint
    const view = new DataView(native.view(address, 4096))
    expect(view.getUint32(0, true)).toBe(7)
    await worker.terminate()
    expect(view.getUint32(0, true)).toBe(7)
    expect(() => native.view(address, 4096)).toThrow(RangeError)
  })

  test('a thread can be terminated during a wait', async () => {
    const worker = thread(
      `const waits = [host.eventfd(), host.eventfd()].map((fd) => host.waitReadable(fd, 3600e9))
       port.postMessage(waits.length)`,
      {},
    )
    expect(await nextMessage(worker)).toBe(2)
    await worker.terminate()
  })

  test('eight threads map, view, wait and end concurrently', async () => {
    const region = native.allocate(4096, 4096)
    const workers = Array.from({ length: 8 }, (_, index) =>
      thread(
        `const view = new Int32Array(host.view(data.address, 4096))
         for (let round = 0; round < 100; round++) {
           const own = host.allocate(4096, 4096)
           new Uint8Array(host.view(own.address, 4096)).fill(1)
           Atomics.add(view, 0, own.load32(0) === 0x01010101 ? 1 : 1000)
           own.unmap()
         }
         if (await host.waitReadable(host.eventfd(), 1000)) Atomics.add(view, 0, 1000)
         void host.waitReadable(host.eventfd(), 1e6 * data.index)`,
        { address: region.address, index },
      ),
    )
    await Promise.all(workers.map((worker) => once(worker, 'exit')))
    expect(region.load32(0)).toBe(800)
    region.unmap()
  })
})

describe.skipIf(!isBuilt)(`descriptors and threads${skipped}`, () => {
  // asm-generic/ioctls.h: _IOW('T', 0x31, int), and _IO('T', 0x41), which returns a new descriptor.
  const TIOCSPTLCK = 0x40045431
  const TIOCGPTPEER = 0x5441
  const O_RDWR_NOCTTY = 0x102
  const peerOf = `
    const { openSync, closeSync } = require('node:fs')
    const terminal = openSync('/dev/ptmx', ${O_RDWR_NOCTTY})
    host.ioctl(terminal, ${TIOCSPTLCK}, new Uint8Array(4))
    const peer = host.adopt(host.ioctlNumber(terminal, ${TIOCGPTPEER}, ${O_RDWR_NOCTTY}))`

  /** Returns the descriptors of this process whose fdinfo matches `pattern`. */
  const open = (pattern: RegExp): string[] =>
    readdirSync('/proc/self/fdinfo').filter((fd) => {
      try {
        return pattern.test(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))
      } catch {
        return false // the descriptor of the directory itself
      }
    })

  test('an eventfd is closed when the thread that made it ends', async () => {
    const worker = thread(`port.on('message', () => undefined); port.postMessage(host.eventfd())`, {})
    const fd = (await nextMessage(worker)) as number
    const id = /^eventfd-id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!
    const same = new RegExp(`^eventfd-id:\\s*${id}$`, 'm')
    expect(open(same)).toEqual([String(fd)])
    await worker.terminate()
    expect(open(same)).toEqual([])
  })

  test('an adopted descriptor from an ioctl is closed when its thread ends', async () => {
    const worker = thread(`${peerOf}; port.on('message', () => undefined); port.postMessage(peer)`, {})
    const fd = (await nextMessage(worker)) as number
    const terminal = readlinkSync(`/proc/self/fd/${fd}`)
    expect(terminal).toMatch(/^\/dev\/pts\/\d+$/)
    const links = () =>
      readdirSync('/proc/self/fd').flatMap((each) => {
        try {
          return [readlinkSync(`/proc/self/fd/${each}`)]
        } catch {
          return []
        }
      })
    expect(links().filter((link) => link === terminal)).toEqual([terminal])
    await worker.terminate()
    expect(links()).not.toContain(terminal)
  })

  test('closing adopted descriptors emits no warning in any thread', async () => {
    const worker = thread(
      `process.on('warning', ({ message }) => port.postMessage(message))
       ${peerOf}
       for (const fd of [peer, host.eventfd()]) closeSync(fd)
       setTimeout(() => port.postMessage('closed'), 20)`,
      {},
    )
    expect(await nextMessage(worker)).toBe('closed')
    await worker.terminate()
  })

  test('adopting an invalid descriptor throws, and nothing stays open', () => {
    const before = readdirSync('/proc/self/fd').length
    expect(() => native.adopt(-1)).toThrow(RangeError)
    expect(() => native.adopt(1_000_000)).toThrow(expect.objectContaining({ code: 'EBADF' }))
    expect(readdirSync('/proc/self/fd').length).toBe(before)
  })
})

describe.skipIf(!isBuilt)(`memory and the garbage collector${skipped}`, () => {
  /** Runs code in a separate process, since an error here is a crash; returns its output, parsed as JSON. */
  function run(code: string): unknown {
    const script = `
      import { readFileSync } from 'node:fs'
      import { loadHardwareHost } from '@gpunvme/cuda-native/host'
      const host = loadHardwareHost()
      const mapped = (address) => new RegExp('^' + address.toString(16) + '-', 'm').test(readFileSync('/proc/self/maps', 'utf8'))
      async function collect() {
        for (let round = 0; round < 5; round++) {
          gc()
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      }
      ${code}`
    const cwd = join(import.meta.dirname, '../..')
    return JSON.parse(
      execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], { cwd, encoding: 'utf8' }),
    )
  }

  test('an unreferenced region stays mapped, since a device may write to it', () => {
    const code = `
      let address
      ;(() => {
        const region = host.allocate(4096, 4096)
        region.store32(0, 99)
        void region.buffer
        ;({ address } = region)
      })()
      await collect()
      console.log(JSON.stringify([mapped(address), new Uint32Array(host.view(address, 4))[0]]))`
    expect(run(code)).toEqual([true, 99])
  })

  test('views stay valid while they are referenced, and keep nothing mapped afterwards', () => {
    const code = `
      const region = host.allocate(4096, 4096)
      let kept = new Uint8Array(host.view(region.address, 4096))
      for (let i = 0; i < 1000; i++) host.view(region.address + BigInt(i), 1)
      await collect()
      kept.fill(3)
      const before = region.load32(0)
      region.unmap()
      const after = [kept.length, mapped(region.address)]
      await collect()
      console.log(JSON.stringify([before, ...after]))`
    expect(run(code)).toEqual([0x03030303, 0, false])
  })

  test('two thousand regions leave no mapping', () => {
    const code = `
      const count = () => readFileSync('/proc/self/maps', 'utf8').split('\\n').length
      const addresses = new Set()
      const before = count()
      for (let i = 0; i < 2000; i++) {
        const region = host.allocate(4096, 4096)
        const bytes = new Uint8Array(region.buffer)
        bytes[0] = 1
        host.view(region.address, 8)
        region.unmap()
        if (bytes.length !== 0) throw new Error('still there')
        if (i % 500 === 0) await collect()
      }
      await collect()
      console.log(JSON.stringify(count() - before < 100))`
    expect(run(code)).toBe(true)
  })

  test('a process may exit with regions, views and pending waits', () => {
    const code = `
      const region = host.allocate(4096, 4096)
      globalThis.kept = [region.buffer, host.view(region.address, 4), host.waitReadable(host.eventfd(), 3600e9)]
      process.on('exit', () => console.log(JSON.stringify(region.load32(0))))
      setTimeout(() => process.exit(0), 5)`
    expect(run(code)).toBe(0)
  })
})
