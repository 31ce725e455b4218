import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { initramfs } from './cpio.js'
import { elfModule } from './elf-module.js'

export type DescribedFlavour = 'open' | 'proprietary'
export type DescribedLookup = 'follow_pfnmap_start' | 'follow_pte' | 'follow_pfn' | 'unsafe_follow_pfn' | 'none'

/** NVIDIA's driver of a described machine: running version, files and configuration. */
export interface DescribedDriver {
  readonly running?: { readonly version: string; readonly flavour: DescribedFlavour }
  readonly onDisk?: DescribedModule
  /** Modules of other kernels, and further modules of this kernel. */
  readonly alsoOnDisk?: readonly DescribedModule[]
  /** An initramfs. It contains a module if a version is given. */
  readonly initramfs?: { readonly version?: string; readonly flavour?: DescribedFlavour }
  /** Changes to /proc/driver/nvidia/params: { RegistryDwords: '"RMForceStaticBar1=1"' }. */
  readonly params?: Readonly<Record<string, string>>
  /** Files in /etc/modprobe.d. */
  readonly modprobe?: Readonly<Record<string, string>>
  /** Version of libcuda. */
  readonly libcuda?: string
  readonly dkms?: readonly DescribedDkms[]
  /** Symbols in the kernel's Module.symvers. Undefined: no file. */
  readonly symvers?: Readonly<Record<string, 'any' | 'GPL'>>
}

export interface DescribedModule {
  readonly version: string
  readonly flavour: DescribedFlavour
  readonly pfn: DescribedLookup
  /** Default: 'updates/dkms'. */
  readonly folder?: string
  readonly kernel?: string
  readonly compression?: 'none' | 'gzip'
  readonly signer?: string
  /** Change by driver apply: 'pfn-walk/1'. */
  readonly mark?: string
}

export interface DescribedDkms {
  /** Default: 'nvidia'. */
  readonly name?: string
  readonly version: string
  readonly flavour: DescribedFlavour
  /** True if it is built for the running kernel, false if it is only added. */
  readonly built: boolean
}

export interface DescribedOn {
  readonly kernel: string
  readonly gpus: readonly { readonly address: string; readonly model: string }[]
}

/** Writes the driver to the root `into`. /proc/modules and PCI functions are left to the machine. */
export function writeDriver(into: string, driver: DescribedDriver, on: DescribedOn): void {
  const put = (path: string, contents: string | Uint8Array) => {
    const at = join(into, path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, contents)
  }
  if (driver.running !== undefined) writeRunning(put, driver.running, driver.params ?? {}, on)
  for (const module of [driver.onDisk, ...(driver.alsoOnDisk ?? [])]) {
    if (module !== undefined) writeModule(put, module, on.kernel)
  }
  if (driver.initramfs !== undefined) writeInitramfs(put, driver.initramfs, on.kernel)
  for (const [name, text] of Object.entries(driver.modprobe ?? {})) put(`etc/modprobe.d/${name}`, text)
  for (const tree of driver.dkms ?? []) writeDkms(into, put, tree, on.kernel)
  if (driver.libcuda !== undefined) {
    put(`usr/lib/x86_64-linux-gnu/libcuda.so.${driver.libcuda}`, 'not a library')
    symlinkSync(`libcuda.so.${driver.libcuda}`, join(into, 'usr/lib/x86_64-linux-gnu/libcuda.so.1'))
  }
  if (driver.symvers !== undefined) {
    const lines = Object.entries(driver.symvers).map(
      ([name, who]) => `0x00000000\t${name}\tvmlinux\t${who === 'GPL' ? 'EXPORT_SYMBOL_GPL' : 'EXPORT_SYMBOL'}\t\n`,
    )
    put(`usr/src/linux-headers-${on.kernel}/Module.symvers`, lines.join(''))
    mkdirSync(join(into, 'lib/modules', on.kernel), { recursive: true })
    symlinkSync(`/usr/src/linux-headers-${on.kernel}`, join(into, 'lib/modules', on.kernel, 'build'))
  }
}

type Put = (path: string, contents: string | Uint8Array) => void

function writeRunning(
  put: Put,
  { version, flavour }: NonNullable<DescribedDriver['running']>,
  params: Readonly<Record<string, string>>,
  { gpus }: DescribedOn,
): void {
  const kind = flavour === 'open' ? 'NVIDIA UNIX Open Kernel Module for x86_64' : 'NVIDIA UNIX x86_64 Kernel Module'
  put(
    'proc/driver/nvidia/version',
    `NVRM version: ${kind}  ${version}  Release Build  (builder@host)  Tue Mar  3 10:00:00 UTC 2026\n` +
      `GCC version:  gcc version 14.2.0 (Debian 14.2.0-19)\n`,
  )
  const usual = { ResmanDebugLevel: '4294967295', EnableResizableBar: '0', RegistryDwords: '""' }
  const lines = Object.entries({ ...usual, ...params }).map(([name, value]) => `${name}: ${value}\n`)
  put('proc/driver/nvidia/params', lines.join(''))
  gpus.forEach(({ address, model }, minor) => {
    put(
      `proc/driver/nvidia/gpus/${address}/information`,
      `Model: \t\t ${model}\nIRQ:   \t\t ${90 + minor}\nGPU UUID: \t GPU-00000000-0000-0000-0000-00000000000${minor}\n` +
        `Video BIOS: \t 94.02.42.00.a9\nBus Type: \t PCIe\nDMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\n` +
        `Bus Location: \t ${address}\nDevice Minor: \t ${minor}\nGPU Excluded:\t No\n`,
    )
  })
  put('sys/module/nvidia/version', `${version}\n`)
  put('sys/module/nvidia/srcversion', `${srcversion(version, flavour)}\n`)
  put('sys/module/nvidia/refcnt', '42\n')
  put('sys/module/nvidia/taint', flavour === 'open' ? 'OE\n' : 'POE\n')
}

function writeModule(put: Put, module: DescribedModule, runningKernel: string): void {
  const { kernel = runningKernel, folder = 'updates/dkms', compression = 'none' } = module
  const bytes = describedModule(module, kernel)
  if (compression === 'none') put(`lib/modules/${kernel}/${folder}/nvidia.ko`, bytes)
  else put(`lib/modules/${kernel}/${folder}/nvidia.ko.gz`, gzipSync(bytes))
}

/** Returns nvidia.ko without code. */
export function describedModule(module: DescribedModule, kernel: string): Buffer {
  const { version, flavour, pfn, signer, mark } = module
  return elfModule({
    modinfo: [
      ...(mark === undefined ? [] : [`gpunvme=${mark}`]),
      `license=${flavour === 'open' ? 'Dual MIT/GPL' : 'NVIDIA'}`,
      `version=${version}`,
      `srcversion=${srcversion(version, flavour)}`,
      'name=nvidia',
      `vermagic=${kernel} SMP preempt mod_unload modversions `,
    ],
    undefinedSymbols: ['pci_get_device', ...(pfn === 'none' ? [] : [pfn]), 'vm_insert_pfn'],
    ...(signer !== undefined && { signer }),
  })
}

/** Returns digits that depend only on the sources. */
function srcversion(version: string, flavour: DescribedFlavour): string {
  return `${flavour === 'open' ? 'A' : 'B'}${Buffer.from(version).toString('hex').toUpperCase()}`
    .padEnd(24, '0')
    .slice(0, 24)
}

function writeInitramfs(
  put: Put,
  { version, flavour = 'open' }: { version?: string; flavour?: DescribedFlavour },
  kernel: string,
) {
  const files = [
    { path: 'init', contents: Buffer.from('#!/bin/sh\n') },
    ...(version === undefined
      ? []
      : [
          {
            path: `usr/lib/modules/${kernel}/updates/dkms/nvidia.ko`,
            contents: describedModule({ version, flavour, pfn: 'none' }, kernel),
          },
        ]),
  ]
  put(
    `boot/initrd.img-${kernel}`,
    initramfs(files, { early: [{ path: 'kernel/x86/microcode/AuthenticAMD.bin', contents: Buffer.alloc(64) }] }),
  )
}

function writeDkms(
  into: string,
  put: Put,
  { name = 'nvidia', version, flavour, built }: DescribedDkms,
  kernel: string,
) {
  const tree = `usr/src/${name}-${version}`
  put(`${tree}/dkms.conf`, `PACKAGE_NAME="${name}"\nPACKAGE_VERSION="${version}"\n`)
  put(`${tree}/nvidia/nv-kernel.o_binary`, 'object code')
  put(`${tree}/nvidia/nv.c`, `MODULE_LICENSE("${flavour === 'open' ? 'Dual MIT/GPL' : 'NVIDIA'}");\n`)
  const source = join(into, 'var/lib/dkms', name, version)
  mkdirSync(source, { recursive: true })
  symlinkSync(`/${tree}`, join(source, 'source'))
  if (built) put(`var/lib/dkms/${name}/${version}/${kernel}/x86_64/module/nvidia.ko`, 'a module')
}
