import type { Shape } from '../described.js'
import { AMD, BROADCOM, CLASS, gen, INTEL, ISOLATING, part, PLX, RED_HAT, type Part } from './part.js'

function port(
  ids: { vendor: number; vendorName: string; device: number; deviceName: string },
  type: 'root-port' | 'upstream' | 'downstream',
  max: Shape,
): Part {
  const acs = type === 'upstream' ? {} : { acs: ISOLATING }
  return part({ ...ids, classCode: CLASS.bridge, type, max, driver: 'pcieport', ...acs })
}

function hostBridge(ids: { vendor: number; vendorName: string; device: number; deviceName: string }): Part {
  return part({ ...ids, classCode: CLASS.hostBridge, type: 'conventional' })
}

/** Host bridges, root ports and switches, by the component that contains them. */
export const ports = {
  matisseRoot: hostBridge({ ...AMD, device: 0x1480, deviceName: 'Starship/Matisse Root Complex' }),
  matisse: port({ ...AMD, device: 0x1483, deviceName: 'Starship/Matisse GPP Bridge' }, 'root-port', gen(4, 16)),
  raphaelRoot: hostBridge({ ...AMD, device: 0x14d8, deviceName: 'Raphael/Granite Ridge Root Complex' }),
  raphael: port({ ...AMD, device: 0x14db, deviceName: 'Raphael/Granite Ridge GPP Bridge' }, 'root-port', gen(5, 16)),
  cezanneRoot: hostBridge({ ...AMD, device: 0x1630, deviceName: 'Renoir/Cezanne Root Complex' }),
  cezanne: port({ ...AMD, device: 0x1634, deviceName: 'Renoir/Cezanne PCIe GPP Bridge' }, 'root-port', gen(3, 16)),
  genoaRoot: hostBridge({ ...AMD, device: 0x14a4, deviceName: 'Genoa/Bergamo Root Complex' }),
  genoa: port({ ...AMD, device: 0x14ab, deviceName: 'Genoa/Bergamo PCIe GPP Bridge' }, 'root-port', gen(5, 16)),
  b450Up: port({ ...AMD, device: 0x43c6, deviceName: '400 Series Chipset PCIe Bridge' }, 'upstream', gen(3, 4)),
  b450Down: port({ ...AMD, device: 0x43c7, deviceName: '400 Series Chipset PCIe Port' }, 'downstream', gen(2, 4)),
  b550Up: port(
    { ...AMD, device: 0x43e9, deviceName: '500 Series Chipset Switch Upstream Port' },
    'upstream',
    gen(3, 4),
  ),
  b550Down: port({ ...AMD, device: 0x43ea, deviceName: '' }, 'downstream', gen(3, 4)),
  x570Up: port({ ...AMD, device: 0x57ad, deviceName: 'Matisse Switch Upstream' }, 'upstream', gen(4, 4)),
  x570Down: port({ ...AMD, device: 0x57a3, deviceName: 'Matisse PCIe GPP Bridge' }, 'downstream', gen(4, 4)),
  x670Up: port(
    { ...AMD, device: 0x43f4, deviceName: '600 Series Chipset PCIe Switch Upstream Port' },
    'upstream',
    gen(4, 4),
  ),
  x670Down: port(
    { ...AMD, device: 0x43f5, deviceName: '600 Series Chipset PCIe Switch Downstream Port' },
    'downstream',
    gen(4, 4),
  ),
  alderRoot: hostBridge({ ...INTEL, device: 0x4668, deviceName: '12th Gen Core Processor Host Bridge/DRAM Registers' }),
  alderX16: port(
    { ...INTEL, device: 0x460d, deviceName: '12th Gen Core Processor PCI Express x16 Controller #1' },
    'root-port',
    gen(5, 16),
  ),
  alderX4: port(
    { ...INTEL, device: 0x464d, deviceName: '12th Gen Core Processor PCI Express x4 Controller #0' },
    'root-port',
    gen(4, 4),
  ),
  alderPch: port(
    { ...INTEL, device: 0x7ab0, deviceName: 'Alder Lake-S PCH PCI Express Root Port #9' },
    'root-port',
    gen(4, 4),
  ),
  tigerRoot: hostBridge({ ...INTEL, device: 0x9a14, deviceName: '11th Gen Core Processor Host Bridge/DRAM Registers' }),
  tigerX4: port(
    { ...INTEL, device: 0x9a09, deviceName: '11th Gen Core Processor PCIe Controller' },
    'root-port',
    gen(4, 4),
  ),
  tigerPch: port(
    { ...INTEL, device: 0xa0b0, deviceName: 'Tiger Lake-LP PCI Express Root Port #9' },
    'root-port',
    gen(3, 4),
  ),
  skylakeE: port(
    { ...INTEL, device: 0x2030, deviceName: 'Sky Lake-E PCI Express Root Port A' },
    'root-port',
    gen(3, 16),
  ),
  sapphireRoot: hostBridge({ ...INTEL, device: 0x09a2, deviceName: 'Ice Lake Memory Map/VT-d' }),
  sapphire: port({ ...INTEL, device: 0x352a, deviceName: '' }, 'root-port', gen(5, 16)),
  plxUp: port({ ...PLX, device: 0x8796, deviceName: 'PEX 8796 Gen 3 Switch' }, 'upstream', gen(3, 16)),
  plxDown: port({ ...PLX, device: 0x8796, deviceName: 'PEX 8796 Gen 3 Switch' }, 'downstream', gen(3, 16)),
  pex890Up: port({ ...BROADCOM, device: 0xc030, deviceName: 'PEX890xx PCIe Gen 5 Switch' }, 'upstream', gen(5, 16)),
  pex890Down: port({ ...BROADCOM, device: 0xc030, deviceName: 'PEX890xx PCIe Gen 5 Switch' }, 'downstream', gen(5, 16)),
  q35Root: hostBridge({ ...INTEL, device: 0x29c0, deviceName: '82G33/G31/P35/P31 Express DRAM Controller' }),
  qemuPort: port({ ...RED_HAT, device: 0x000c, deviceName: 'QEMU PCIe Root port' }, 'root-port', gen(4, 32)),
} as const
