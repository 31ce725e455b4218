import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { afterEach, describe, expect, it } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { isBuilt } from '../native.js'
import { message, RawClient, words } from './raw-client.js'
import { serve, type Served } from './served.js'

const [DMA_MAP, GET_INFO] = [2, 4]
const EINVAL = 22
const mapData = words([32, 32], [32, 3], [64, 0], [64, 4096], [64, 4096])
const refusal = 'client sent DMA_MAP: unsupported descriptor: expected a memfd, or a file of tmpfs or hugetlbfs'

const lacking = !isBuilt
  ? '[native] gpunvme_host is not built'
  : process.getuid?.() !== 0
    ? 'only root can mount FUSE'
    : !existsSync('/dev/fuse')
      ? 'no /dev/fuse'
      : spawnSync('unshare', ['--mount', 'true']).status !== 0
        ? 'unshare --mount fails'
        : undefined
const skipped = lacking === undefined ? '' : ` (skipped: ${lacking})`

/** A file whose file system no longer responds, and the process to kill to let it be closed. */
async function silentFile() {
  const folder = scratch()
  const program = fileURLToPath(new URL('silent-fuse.mjs', import.meta.url))
  // A separate mount namespace: the mount ends with the process.
  const daemon = spawn('unshare', ['--mount', process.execPath, program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(daemon.stdout, 'data')
  return { fd: openSync(`/proc/${daemon.pid}/root${join(folder, 'file')}`, 'r+'), daemon }
}

describe.skipIf(lacking !== undefined)(`DMA_MAP of a file on an unresponsive file system${skipped}`, () => {
  let file: Awaited<ReturnType<typeof silentFile>> | undefined
  let served: Served | undefined
  afterEach(async () => {
    if (file !== undefined) {
      file.daemon.kill('SIGKILL')
      await once(file.daemon, 'exit')
      // The file is closed, although its file system is gone.
      expect(() => closeSync(file!.fd)).toThrow('ENOTCONN')
    }
    await served?.close()
    file = served = undefined
  })

  it('is rejected, and the next client is served', async () => {
    served = await serve()
    file = await silentFile()
    const client = new RawClient(served.socket).agree()
    expect(client.ask(DMA_MAP, mapData, [file.fd])).toBe(EINVAL)
    client.close()
    const next = new RawClient(served.socket).agree()
    next.send(message(GET_INFO, new Uint8Array(16)))
    expect(next.replies(1)).toHaveLength(1)
    next.close()
    expect(await served.server.diagnostics()).toMatchObject([{ code: 'client-message', text: refusal }])
  }, 120_000)

  it('does not prevent the server process from exiting', async () => {
    const socket = join(scratch(), 'nvme.sock')
    const program = `
      import { startVfioUserServer } from ${JSON.stringify(import.meta.resolve('@gpunvme/nvme-sim/vfio-user'))}
      await startVfioUserServer({
        socket: ${JSON.stringify(socket)},
        module: new URL(${JSON.stringify(nativeHostModule.href)}),
      })
      console.log('listening')`
    const server = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(server.stdout, 'data')
    // Opened last: a process started later would close the file, and wait.
    file = await silentFile()
    const client = new RawClient(socket).agree()
    client.send(message(DMA_MAP, mapData), [file.fd])
    // The reply shows that the server has handled the previous message.
    expect(client.ask(GET_INFO, new Uint8Array(16))).toBeDefined()
    client.close()
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    expect(await ended).toEqual([null, 'SIGTERM'])
  }, 120_000)
})
