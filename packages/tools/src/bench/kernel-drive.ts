import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import type { SmartLog } from '@gpunvme/host-driver'
import { fileConfigSpace } from '@gpunvme/host-driver/pci'
import { IdentifyController, LID, SmartHealthLog } from '@gpunvme/nvme-spec'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLinux } from '../admin/with-admin-view.js'
import type { AdminView } from '../admin/view.js'
import { attempting } from '../command-line/file-error.js'
import { findNamespace } from '../drive/block-device.js'
import type { FoundDrive } from '../drive/find-drive.js'
import { pciLink } from '../drive/pci-link.js'
import type { BenchDrive } from '../report/bench-results.js'
import type { BaselineTarget } from './baseline-bench.js'
import { trustedLink } from './trusted-link.js'

/** Unit of the size of a block device in sysfs. */
const SECTOR_BYTES = 512

/** Lends a drive that stays bound to Linux's driver: its block device, and its SMART log through that driver. */
export async function withKernelDrive<T>(
  found: FoundDrive,
  nsid: number | undefined,
  use: (target: BaselineTarget) => Promise<T>,
): Promise<T> {
  return withLinux(loadHardwareHost(), found, '/dev', async (view) => {
    const namespace = findNamespace('/sys', found.linuxName!, nsid)
    const drive = await driveOf('/sys', namespace.name, view, found.bdf)
    const link = trustedLink(drive.model, linkOf(found.path))
    return use({
      path: `/dev/${namespace.name}`,
      transport: 'kernel',
      drive,
      nsid: namespace.nsid,
      link,
      smartLog: () => smartLog(view),
      notes: [
        "The drive was bound to Linux's driver: reads used O_DIRECT, and other processes could use the drive meanwhile.",
      ],
    })
  })
}

async function smartLog({ reader }: AdminView): Promise<SmartLog> {
  return SmartHealthLog.decode(
    await reader.logPage(LID.SMART_HEALTH_INFORMATION, { lengthBytes: SmartHealthLog.bytes }),
  )
}

async function driveOf(sys: string, name: string, { reader }: AdminView, address: string): Promise<BenchDrive> {
  const { MN, FR, SN } = IdentifyController.view(reader.identity.raw)
  const numberIn = async (path: string) =>
    attempting(`read ${path}`, () => Promise.resolve(Number(readFileSync(path, 'utf8'))))
  const folder = join(sys, 'class/block', name)
  return {
    model: MN,
    firmware: FR,
    address,
    serialEnd: SN.slice(-4),
    capacityBytes: SECTOR_BYTES * (await numberIn(join(folder, 'size'))),
    blockBytes: await numberIn(join(folder, 'queue/logical_block_size')),
  }
}

/** Only root can read the capability; without it, rates have no denominator. */
function linkOf(path: string): Link | undefined {
  const fd = openSync(join(path, 'config'), 'r')
  try {
    return pciLink(fileConfigSpace(fd))
  } finally {
    closeSync(fd)
  }
}
