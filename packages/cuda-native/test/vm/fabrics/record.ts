// Linux's NVMe/TCP host connects to Linux's NVMe/TCP target in the same guest, through a proxy that records every byte.
// Prints the bytes of each connection as one line of JSON.
import { open } from 'node:fs/promises'
import { NQNS } from '../../../../nvme-spec/test/dhchap-secrets.js'
import { askForDiscoveryLog } from './discover.js'
import { printConnections, RECORDED_PORT, startProxy } from './proxy.js'
import { connectHost, disconnectHost, makeTarget } from './target.js'

/** Connects, transfers data and disconnects. */
async function connectAndTransfer(options: string): Promise<void> {
  await connectHost(RECORDED_PORT, options)
  const drive = await open('/dev/nvme0n1', 'r+')
  await drive.read(Buffer.alloc(4096), 0, 4096, 64 * 4096)
  // The Linux target accepts in-capsule data up to 16 KiB and sends an R2T for more.
  for (const [blocks, at] of [
    [1, 8],
    [16, 16],
  ] as const) {
    await drive.write(Buffer.alloc(4096 * blocks, 0x5a), 0, 4096 * blocks, 4096 * at)
    await drive.sync()
  }
  await drive.close()
  await disconnectHost()
}

makeTarget()
await startProxy()
for (const [name, options] of [
  ['plain', ''],
  ['digests', ',hdr_digest,data_digest'],
  ['no flow control', ',disable_sqflow'],
  ['discovery', undefined],
] as const) {
  if (options === undefined) await askForDiscoveryLog(RECORDED_PORT, NQNS.host)
  else await connectAndTransfer(options)
  printConnections(name)
}
process.exit(0)
