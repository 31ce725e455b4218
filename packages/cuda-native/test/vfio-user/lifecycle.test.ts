import { spawn } from 'node:child_process'
import { existsSync, linkSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CaseHost } from '@gpunvme/nvme-sim/conformance'
import { startVfioUserServer, VfioUserServerError, VfioUserSocketError } from '@gpunvme/nvme-sim/vfio-user'
import { parseTraceLine } from '@gpunvme/nvme-spec/trace'
import { afterEach, describe, expect, it } from 'vitest'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { scratch } from '../../../../test/scratch.js'
import { isBuilt, skipped } from '../native.js'
import { RawClient } from './raw-client.js'
import { openAt, serve, type Served } from './served.js'

const MIB = 1024 * 1024
const [WRITE, READ, FLUSH] = [0x01, 0x02, 0x00]

const running: Served[] = []
afterEach(() => Promise.all(running.splice(0).map((each) => each.close())))

async function started(options?: Parameters<typeof serve>[0]): Promise<Served> {
  const served = await serve(options)
  running.push(served)
  return served
}

describe.runIf(isBuilt)(`a vfio-user server${skipped}`, () => {
  it('counts the commands of successive clients, and keeps the data that they write', async () => {
    const { server, open } = await started(() => ({ namespaces: [{ blockBytes: 4096, capacityBytes: MIB }] }))
    expect(await server.statistics()).toMatchObject({ clients: 0, connected: false, messages: 0, queueDepth: 0 })
    const prps = (memory: { iova(): number }) => ({ prp1: memory.iova() })
    for (const opcode of [WRITE, READ]) {
      const transport = await open()
      const host = new CaseHost(transport)
      await host.startWithPair()
      const memory = host.alloc(4096)
      if (opcode === WRITE) memory.fillPattern()
      const command = { opcode, nsid: 1, ...prps(memory), cdw: { 10: 7 } }
      expect((await host.command(1, command)).status).toBe('0/00')
      if (opcode === READ) {
        const expected = host.alloc(4096)
        expected.fillPattern()
        expect(memory.read()).toEqual(expected.read())
      }
      expect(await server.statistics()).toMatchObject({ connected: true, queueDepth: 0 })
      await transport.close()
    }
    const statistics = await server.statistics()
    expect(statistics).toMatchObject({ clients: 2, faultsInjected: 0, bytesRead: 4096, bytesWritten: 4096 })
    expect(statistics.messages).toBeGreaterThan(20)
    expect(await server.diagnostics()).toEqual([])
  })

  it('counts applied faults over all clients', async () => {
    const rule = { match: { register: 'VS' }, action: { kind: 'read-value', value: 0x1234 } } as const
    const { server, open } = await started(() => ({ faults: { rules: [rule] } }))
    for (let client = 1; client <= 2; client++) {
      const transport = await open()
      expect(transport.bar.read32(8)).toBe(0x1234)
      await transport.close()
    }
    expect((await server.statistics()).faultsInjected).toBe(2)
  })

  it('removes its socket and disconnects the client on close, and then rejects requests for statistics', async () => {
    const { server, socket } = await started()
    const client = new RawClient(socket).agree()
    await Promise.all([server.close(), server.close()])
    expect(client.replies(1)).toEqual([])
    client.close()
    expect(existsSync(socket)).toBe(false)
    await server.closed
    const asked: unknown = await server.statistics().catch((error: unknown) => error)
    expect(asked).toBeInstanceOf(VfioUserServerError)
    expect(asked).toMatchObject({ code: 'ERR_GPUNVME_SIMULATOR_ENDED', reason: 'closed' })
  })

  it('does not replace the socket of a live server or a file, but replaces the socket of a killed server', async () => {
    const first = await started()
    const at = (socket: string) => startVfioUserServer({ socket, module: nativeHostModule })
    const refused: unknown = await at(first.socket).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(VfioUserSocketError)
    expect(refused).toMatchObject({ category: 'privilege', socket: first.socket })
    const file = join(first.folder, 'file')
    writeFileSync(file, 'mine')
    await expect(at(file)).rejects.toMatchObject({ category: 'usage' })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    await first.open().then((transport) => transport.close())
    // A killed server leaves its socket.
    const stale = join(first.folder, 'stale.sock')
    const listener = createServer()
    await new Promise<void>((resolve) => listener.listen(stale, resolve))
    linkSync(stale, `${stale}.kept`)
    await new Promise((resolve) => listener.close(resolve))
    linkSync(`${stale}.kept`, stale)
    const second = await at(stale)
    await second.close()
    expect(existsSync(stale)).toBe(false)
  })

  it('rejects an invalid path of an image or a trace, and leaves no socket', async () => {
    const folder = scratch()
    const socket = join(folder, 'nvme.sock')
    const none = join(folder, 'none', 'file')
    const base = { socket, module: nativeHostModule }
    await expect(startVfioUserServer({ ...base, namespaces: [{ file: { path: none } }] })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    await expect(startVfioUserServer({ ...base, trace: { path: none, format: 'text' } })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    expect(existsSync(socket)).toBe(false)
  })

  it('has written the complete trace when it is closed', async () => {
    const served = await started((folder) => ({ trace: { path: join(folder, 'trace.jsonl'), format: 'jsonl' } }))
    const transport = await served.open()
    const host = new CaseHost(transport)
    await host.startWithPair()
    await transport.close()
    await served.server.close()
    const lines = readFileSync(join(served.folder, 'trace.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => parseTraceLine(line))
    const names = lines.map(({ name }) => name)
    for (const name of ['write CC', 'ring tail', 'fetch', 'post', 'interrupt'].slice(0, 4))
      expect(names).toContain(name)
  })

  it('detects writes to mapped doorbells without a message', async () => {
    const { server, open } = await started(() => ({ mappedDoorbells: true }))
    const transport = await open()
    const host = new CaseHost(transport)
    await host.startWithPair()
    const before = (await server.statistics()).messages
    const memory = host.alloc(4096)
    for (let lba = 0; lba < 64; lba++) {
      const command = { opcode: READ, nsid: 1, prp1: memory.iova(), cdw: { 10: lba } }
      expect((await host.command(1, command)).status).toBe('0/00')
    }
    const { messages, ioCommands, doorbellWrites } = await server.statistics()
    expect(ioCommands[READ]).toBe(64)
    expect(doorbellWrites).toBeGreaterThanOrEqual(128)
    // The client occasionally checks whether the controller still exists.
    expect(messages - before).toBeLessThan(64)
    await transport.close()
  })

  it('flushed data are in the image after the server is killed', async () => {
    const folder = scratch()
    const [socket, image] = [join(folder, 'nvme.sock'), join(folder, 'disk.img')]
    const namespaces = [{ blockBytes: 4096, capacityBytes: MIB, file: { path: image } }]
    const program = `
      import { startVfioUserServer } from ${JSON.stringify(import.meta.resolve('@gpunvme/nvme-sim/vfio-user'))}
      const options = ${JSON.stringify({ socket, namespaces })}
      await startVfioUserServer({ ...options, module: new URL(${JSON.stringify(nativeHostModule.href)}) })
      console.log('listening')
    `
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = new Promise((resolve) => child.once('exit', resolve))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const transport = await openAt(socket)
    const host = new CaseHost(transport)
    await host.startWithPair()
    const memory = host.alloc(4096)
    memory.fillPattern()
    const write = { opcode: WRITE, nsid: 1, prp1: memory.iova(), cdw: { 10: 5 } }
    expect((await host.command(1, write)).status).toBe('0/00')
    expect((await host.command(1, { opcode: FLUSH, nsid: 1 })).status).toBe('0/00')
    const expected = memory.read()
    child.kill('SIGKILL')
    await gone
    await transport.close()
    expect(Buffer.compare(readFileSync(image).subarray(5 * 4096, 6 * 4096), expected)).toBe(0)
  }, 120_000)
})
