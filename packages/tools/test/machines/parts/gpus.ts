import type { DescribedBar, DescribedFunction, Shape } from '../described.js'
import { CLASS, gen, ISOLATING, NVIDIA, RADEON, type Options } from './part.js'

/** Returns BAR sizes from 64 MiB to `maxMib`. */
function sizesUpTo(maxMib: number): number[] {
  return Array.from({ length: 20 }, (_, bit) => 2 ** bit).filter((mib) => mib >= 64 && mib <= maxMib)
}

/** An NVIDIA GPU with a 32-bit BAR0, so that BAR1 is PCI BAR 1. `windowMib` is its size as set by firmware. */
function nvidiaGpu(
  device: number,
  deviceName: string,
  gpuModel: string,
  max: Shape,
  maxMib: number,
  classCode: number,
) {
  return (
    address: string,
    windowMib: number,
    options: Options & { readonly hasNoResizable?: boolean } = {},
  ): DescribedFunction => {
    const { hasNoResizable = false, ...rest } = options
    const bars: DescribedBar[] = [
      { bar: 0, mib: 16 },
      { bar: 1, mib: windowMib, is64Bit: true, isPrefetchable: true },
      { bar: 3, mib: 32, is64Bit: true, isPrefetchable: true },
    ]
    const resizable = hasNoResizable ? {} : { resizable: { bar: 1, sizesMib: sizesUpTo(maxMib) } }
    const fixed = {
      ...NVIDIA,
      device,
      deviceName,
      gpuModel,
      classCode,
      type: 'endpoint' as const,
      max,
      bars,
      ...resizable,
    }
    return { address, driver: 'nvidia', hasReset: true, ...fixed, ...rest }
  }
}

/** An NVIDIA GPU with a 64-bit BAR0, so that BAR1 is PCI BAR 2. */
function hopperGpu(device: number, deviceName: string, gpuModel: string, windowMib: number) {
  return (address: string, options: Options = {}): DescribedFunction => ({
    address,
    ...NVIDIA,
    ...{ device, deviceName, gpuModel, classCode: CLASS.threeD, type: 'endpoint', max: gen(5, 16) },
    bars: [
      { bar: 0, mib: 16, is64Bit: true, isPrefetchable: true },
      { bar: 2, mib: windowMib, is64Bit: true, isPrefetchable: true },
      { bar: 4, mib: 32, is64Bit: true, isPrefetchable: true },
    ],
    resizable: { bar: 2, sizesMib: sizesUpTo(windowMib) },
    driver: 'nvidia',
    hasReset: true,
    ...options,
  })
}

const { display, threeD } = CLASS

export const gpus = {
  rtx3090: nvidiaGpu(0x2204, 'GA102 [GeForce RTX 3090]', 'NVIDIA GeForce RTX 3090', gen(4, 16), 32_768, display),
  rtx3070: nvidiaGpu(0x2484, 'GA104 [GeForce RTX 3070]', 'NVIDIA GeForce RTX 3070', gen(4, 16), 8192, display),
  rtx4090: nvidiaGpu(0x2684, 'AD102 [GeForce RTX 4090]', 'NVIDIA GeForce RTX 4090', gen(4, 16), 32_768, display),
  rtx5090: nvidiaGpu(0x2b85, 'GB202 [GeForce RTX 5090]', 'NVIDIA GeForce RTX 5090', gen(5, 16), 32_768, display),
  rtx5060ti: nvidiaGpu(0x2d04, 'GB206 [GeForce RTX 5060 Ti]', 'NVIDIA GeForce RTX 5060 Ti', gen(5, 8), 16_384, display),
  gtx1080ti: nvidiaGpu(0x1b06, 'GP102 [GeForce GTX 1080 Ti]', 'NVIDIA GeForce GTX 1080 Ti', gen(3, 16), 256, display),
  rtx3050m: nvidiaGpu(
    0x25a2,
    'GA107M [GeForce RTX 3050 Mobile]',
    'NVIDIA GeForce RTX 3050 Laptop GPU',
    gen(4, 8),
    4096,
    display,
  ),
  rtx4060m: nvidiaGpu(
    0x28e0,
    'AD107M [GeForce RTX 4060 Max-Q / Mobile]',
    'NVIDIA GeForce RTX 4060 Laptop GPU',
    gen(4, 8),
    8192,
    display,
  ),
  a10: nvidiaGpu(0x2236, 'GA102GL [A10]', 'NVIDIA A10', gen(4, 16), 32_768, threeD),
  a100: nvidiaGpu(0x20b5, 'GA100 [A100 PCIe 80GB]', 'NVIDIA A100 80GB PCIe', gen(4, 16), 131_072, threeD),
  t4: nvidiaGpu(0x1eb8, 'TU104GL [Tesla T4]', 'Tesla T4', gen(3, 16), 256, threeD),
  a6000: nvidiaGpu(0x2230, 'GA102GL [RTX A6000]', 'NVIDIA RTX A6000', gen(4, 16), 65_536, display),
  h100: hopperGpu(0x2331, 'GH100 [H100 PCIe]', 'NVIDIA H100 PCIe', 131_072),
  h100Sxm: hopperGpu(0x2330, 'GH100 [H100 SXM5 80GB]', 'NVIDIA H100 80GB HBM3', 131_072),
  h200: hopperGpu(0x2335, 'GH100 [H200 SXM 141GB]', 'NVIDIA H200', 262_144),
}

/** A Radeon has its own switch: upstream port, downstream port, function. */
export function radeon7900(
  upstream: string,
  downstream: string,
  address: string,
  link: Shape = gen(4, 16),
): DescribedFunction {
  const inside = { ...RADEON, classCode: CLASS.bridge, driver: 'pcieport' }
  return {
    address: upstream,
    ...inside,
    ...{ device: 0x1478, deviceName: 'Navi 10 XL Upstream Port of PCI Express Switch', type: 'upstream', max: link },
    behind: [
      {
        address: downstream,
        ...inside,
        ...{ device: 0x1479, deviceName: 'Navi 10 XL Downstream Port of PCI Express Switch' },
        type: 'downstream',
        max: gen(4, 16),
        acs: ISOLATING,
        behind: [
          {
            address,
            ...RADEON,
            device: 0x744c,
            deviceName: 'Navi 31 [Radeon RX 7900 XT/7900 XTX]',
            gpuModel: 'Radeon RX 7900 XT/7900 XTX',
            classCode: CLASS.display,
            type: 'endpoint',
            max: gen(4, 16),
            bars: [
              { bar: 0, mib: 32_768, is64Bit: true, isPrefetchable: true },
              { bar: 2, mib: 2, is64Bit: true, isPrefetchable: true },
              { bar: 5, mib: 1 },
            ],
            resizable: { bar: 0, sizesMib: sizesUpTo(32_768).filter((mib) => mib >= 256) },
            vramMib: 24_560,
            driver: 'amdgpu',
          },
        ],
      },
    ],
  }
}
