import type { BlockNode, MachineOptions } from './options.js'
import { FIRST_SLOT } from './options.js'

/** Files of the machine. */
export interface MachineFiles {
  readonly ram: string
  readonly vram: string
  /** Path of the FIFOs, without .in and .out. */
  readonly qtest: string
  readonly trace: string
  image(controller: number, nsid: number): string
}

export const VRAM_SLOT = 3

/** Returns the name of a controller in QMP. */
export function controllerId(index: number): string {
  return `nvme${index}`
}

/**
 * Returns the arguments of a machine whose CPU never runs. It is controlled by its test server, and by the monitor on
 * its standard input.
 */
export function machineArguments(options: MachineOptions, files: MachineFiles): string[] {
  const { memoryBytes, vramBytes, controllers } = options
  const object = (id: string, path: string, size: number) =>
    json('-object', { 'qom-type': 'memory-backend-file', id, 'mem-path': path, size, share: true })
  const subsystems = new Set(controllers.flatMap(({ subsystem }) => subsystem ?? []))
  return [
    ...['-nodefaults', '-no-user-config', '-display', 'none'],
    ...['-machine', 'pc,memory-backend=ram', '-m', `${memoryBytes / 1024}K`, '-accel', 'tcg', '-S'],
    ...object('ram', files.ram, memoryBytes),
    ...['-qtest', `pipe:${files.qtest}`, '-qtest-log', '/dev/null', '-qmp', 'stdio'],
    // Mistakes of the host; ub is "undefined behaviour". Correct use leaves nothing here.
    ...['-D', files.trace, '-trace', 'pci_nvme_ub_*', '-trace', 'pci_nvme_err_*'],
    ...(vramBytes === 0
      ? []
      : [
          ...object('vram', files.vram, vramBytes),
          ...device({ driver: 'ivshmem-plain', memdev: 'vram', addr: slot(VRAM_SLOT) }),
        ]),
    ...[...subsystems].flatMap((id) => device({ driver: 'nvme-subsys', id: subsystemId(id), nqn: id })),
    ...controllers.flatMap(({ serial, mdts, maxIoQueuePairs, msixVectors, cmbMib, subsystem, properties }, index) =>
      device({
        driver: 'nvme',
        id: controllerId(index),
        addr: slot(FIRST_SLOT + index),
        serial,
        mdts,
        max_ioqpairs: maxIoQueuePairs,
        msix_qsize: msixVectors,
        cmb_size_mb: cmbMib,
        subsys: subsystem === undefined ? undefined : subsystemId(subsystem),
        ...properties,
      }),
    ),
    ...controllers.flatMap(({ namespaces }, index) =>
      namespaces.flatMap((namespace) => {
        const { nsid, blockBytes, image, drive = (node: BlockNode) => node, zones } = namespace
        const id = `image${index}-${nsid}`
        const filename = image ?? files.image(index, nsid)
        const protocol = { driver: 'file', filename, discard: 'unmap' }
        // Deallocated blocks become holes in the image.
        const node = drive({ driver: 'raw', discard: 'unmap', file: protocol })
        return [
          ...json('-blockdev', { ...node, 'node-name': id }),
          ...device({
            driver: 'nvme-ns',
            bus: controllerId(index),
            nsid,
            drive: id,
            logical_block_size: blockBytes,
            physical_block_size: blockBytes,
            ms: namespace.metadataBytes,
            mset: namespace.metadataInData === true ? 1 : undefined,
            pi: namespace.protection,
            ...(zones && {
              zoned: true,
              'zoned.zone_size': zones.zoneBytes,
              'zoned.zone_capacity': zones.capacityBytes,
              'zoned.max_open': zones.maxOpen,
              'zoned.max_active': zones.maxActive,
            }),
            ...namespace.properties,
          }),
        ]
      }),
    ),
  ]
}

function device(properties: Record<string, unknown>): string[] {
  return json('-device', properties)
}

/** Formats an option as JSON, in which names need no escaping. Undefined values are omitted: QEMU's defaults apply. */
function json(option: string, value: object): string[] {
  return [option, JSON.stringify(value)]
}

function slot(number: number): string {
  return number.toString(16).padStart(2, '0')
}

function subsystemId(name: string): string {
  return `subsystem-${Buffer.from(name).toString('hex')}`
}
