import type { Described } from './described.js'
import type { TreeWriter } from './tree-writer.js'
import type { Placed } from './write-pci.js'

export function writeSystem(tree: TreeWriter, machine: Described): void {
  const { board, kernel, memoryGib } = machine
  tree.file('sys/class/dmi/id/board_vendor', board.vendor)
  tree.file('sys/class/dmi/id/board_name', board.name)
  tree.file('sys/class/dmi/id/sys_vendor', board.vendor)
  tree.file('sys/class/dmi/id/product_name', board.name)
  tree.file('sys/class/dmi/id/chassis_type', board.chassis)
  if (board.bios !== undefined) tree.file('sys/class/dmi/id/bios_version', board.bios)
  tree.file('proc/sys/kernel/osrelease', kernel)
  tree.file('proc/cmdline', `BOOT_IMAGE=/boot/vmlinuz-${kernel} ${machine.commandLine ?? 'ro quiet'}`)
  const kib = memoryGib * 1024 * 1024
  tree.file('proc/meminfo', `MemTotal:       ${kib} kB\nMemFree:         ${kib / 2} kB\nMemAvailable:   ${kib / 2} kB`)
  const lock = machine.lockLimitBytes ?? 8 * 1024 * 1024
  const limit = `Max locked memory         ${lock}              ${lock}              bytes`
  tree.file('proc/self/limits', `Limit                     Soft Limit           Hard Limit           Units\n${limit}`)
  writeCpu(tree, machine)
  writeFirmware(tree, machine)
  writeKernel(tree, machine)
  for (const { kib: pageKib, pages, free } of machine.hugePages ?? [{ kib: 2048, pages: 0, free: 0 }]) {
    const folder = `sys/kernel/mm/hugepages/hugepages-${pageKib}kB`
    tree.file(`${folder}/nr_hugepages`, pages)
    tree.file(`${folder}/free_hugepages`, free)
  }
  if (machine.isContainer) tree.file('run/systemd/container', 'docker')
  for (const node of machine.nodes ?? []) tree.file(`dev/${node}`, '')
}

function writeCpu(tree: TreeWriter, { cpu }: Described): void {
  const one = (thread: number) =>
    [
      `processor\t: ${thread}`,
      `vendor_id\t: ${cpu.vendor}`,
      `cpu family\t: ${cpu.family}`,
      `model\t\t: ${cpu.number}`,
      `model name\t: ${cpu.model}`,
      `physical id\t: ${Math.floor((thread * (cpu.sockets ?? 1)) / cpu.threads)}`,
      `flags\t\t: fpu vme sse sse2${cpu.isVirtual ? ' hypervisor' : ''}`,
      '',
    ].join('\n')
  tree.file('proc/cpuinfo', Array.from({ length: cpu.threads }, (_, thread) => one(thread)).join('\n'))
}

function writeFirmware(tree: TreeWriter, { efi = { secureBoot: false }, cpu, iommu = 'off' }: Described): void {
  tree.folder('sys/firmware/efi')
  const variable = 'sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c'
  tree.file(variable, Uint8Array.of(6, 0, 0, 0, efi.secureBoot ? 1 : 0))
  const isAmd = cpu.vendor === 'AuthenticAMD'
  tree.file('sys/firmware/acpi/tables/FACP', '')
  if (!cpu.isVirtual || iommu !== 'off') tree.file(`sys/firmware/acpi/tables/${isAmd ? 'IVRS' : 'DMAR'}`, '')
  if (iommu !== 'off') tree.folder(`sys/class/iommu/${isAmd ? 'ivhd0' : 'dmar0'}`)
}

function writeKernel(tree: TreeWriter, machine: Described): void {
  const { kernel, distribution } = machine
  const { id, version, name, like, config } = distribution
  const lines = [`PRETTY_NAME="${name}"`, `ID=${id}`]
  if (version !== undefined) lines.push(`VERSION_ID="${version}"`)
  if (like !== undefined) lines.push(`ID_LIKE="${like}"`)
  tree.file('etc/os-release', lines.join('\n'))
  const options = Object.entries({ ...config, ...machine.config }).map(([option, value]) =>
    value === 'n' ? `# CONFIG_${option} is not set` : `CONFIG_${option}=${value}`,
  )
  if (!machine.hidesConfig) tree.file(`boot/config-${kernel}`, options.join('\n'))
  const modes = ['none', 'integrity', 'confidentiality'].map((mode) =>
    mode === (machine.lockdown ?? 'none') ? `[${mode}]` : mode,
  )
  tree.file('sys/kernel/security/lockdown', modes.join(' '))
  tree.file('sys/module/pcie_aspm/parameters/policy', '[default] performance powersave powersupersave')
}

/** Module files of the kernels of all distributions here, by folder. */
const USUAL_FILES = [
  'kernel/drivers/vfio/vfio.ko',
  'kernel/drivers/vfio/vfio_iommu_type1.ko',
  'kernel/drivers/vfio/pci/vfio-pci.ko',
  'kernel/drivers/gpu/drm/nouveau/nouveau.ko',
  'kernel/drivers/gpu/drm/amd/amdgpu/amdgpu.ko',
  'kernel/drivers/nvme/host/nvme.ko',
]

/** Drivers whose module has another name, or that are built in. */
const MODULE_OF: Readonly<Record<string, string>> = { 'vfio-pci': 'vfio_pci', pcieport: '', ahci: 'ahci' }

export function writeModules(tree: TreeWriter, machine: Described, placed: readonly Placed[]): void {
  const drivers = placed.flatMap(({ found }) => found.driver ?? []).map((name) => MODULE_OF[name] ?? name)
  const names = new Set([...drivers, ...(machine.modules ?? [])].filter((name) => name !== ''))
  const { nvidia } = machine
  if (names.has('nvidia')) for (const name of ['nvidia_uvm', 'nvidia_modeset', 'nvidia_drm']) names.add(name)
  const taints = (name: string) => {
    if (name.startsWith('nvidia')) return nvidia?.running?.flavour === 'proprietary' ? ' (POE)' : ' (OE)'
    return name === 'gpunvme' || name === 'zfs' ? ' (OE)' : ''
  }
  const lines = Array.from(names, (name) => `${name} 65536 1 - Live 0x0000000000000000${taints(name)}`)
  tree.file('proc/modules', lines.join('\n'))
  const files = [...USUAL_FILES, ...(machine.moduleFiles ?? [])]
  const onDisk = nvidia?.onDisk === undefined ? [] : [`${nvidia.onDisk.folder ?? 'updates/dkms'}/nvidia.ko`]
  const folder = `lib/modules/${machine.kernel}`
  tree.file(`${folder}/modules.dep`, [...files, ...onDisk].map((file) => `${file}:`).join('\n'))
  tree.file(`${folder}/modules.builtin`, 'kernel/drivers/pci/pcie/pcieport.ko')
}

/** Returns lines of the list of PCI IDs for the devices of a machine. */
export function writeNames(tree: TreeWriter, placed: readonly Placed[]): void {
  const vendors = new Map<number, { name: string; devices: Map<number, string> }>()
  for (const { found } of placed) {
    const vendor = vendors.get(found.vendor) ?? { name: found.vendorName, devices: new Map<number, string>() }
    vendors.set(found.vendor, vendor)
    if (found.deviceName !== '') vendor.devices.set(found.device, found.deviceName)
  }
  const hex = (id: number) => id.toString(16).padStart(4, '0')
  const lines = Array.from(vendors, ([id, { name, devices }]) => [
    `${hex(id)}  ${name}`,
    ...Array.from(devices, ([device, called]) => `\t${hex(device)}  ${called}`),
  ])
  tree.file('usr/share/misc/pci.ids', lines.flat().join('\n'))
}
