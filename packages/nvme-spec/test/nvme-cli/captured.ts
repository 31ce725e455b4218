/**
 * Data of real controllers. `bytes` are complete structures read from the device: runs by offset, zeroes between them.
 * `values` are the output of nvme-cli for a drive in a public source, with nvme-cli's names; fields that the source
 * does not show are zero. Serial numbers are invented.
 */
export interface Captured {
  readonly name: string
  readonly source: string
  readonly bytes?: Readonly<Record<number, string>>
  readonly values?: Readonly<Record<string, string | number>>
}

export const CONTROLLERS: readonly Captured[] = [
  {
    name: 'QEMU 7.2.22, -device nvme',
    source: 'Identify CNS 01h sent to the emulated controller over its register interface',
    bytes: {
      0x000: '361bf41a51454d5530303031202020202020202020202020',
      0x018: '51454d55204e564d65204374726c2020202020202020202020202020202020202020202020202020',
      0x040: '372e322e323220200600545200070000000401000000000000000000000100000080',
      0x06f: '01',
      0x100: '0a01030303070000000057017501',
      0x200: '66440000000100005d01000000070000000000000000030001',
      0x300: '6e716e2e323031392d30382e6f72672e71656d753a51454d5530303031',
      0x800: 'c40900001000000004',
    },
  },
  {
    name: 'KIOXIA KBG50ZNS256G',
    source: 'github.com/geerlingguy/raspberry-pi-pcie-devices, issue 693 (nvme id-ctrl)',
    values: {
      ...{ vid: 0x1e0f, ssvid: 0x1e0f, sn: 'SERIAL', mn: 'KBG50ZNS256G NVMe KIOXIA 256GB', fr: '11200104', rab: 2 },
      ...{ ieee: '8ce38e', mdts: 9, ver: 0x10400, rtd3r: 0x186a0, rtd3e: 0x7a120, oaes: 0x200, ctratt: 0x2 },
      ...{ cntrltype: 1, nvmsr: 1, mec: 1, oacs: 0x17, acl: 3, aerl: 7, frmw: 0x14, lpa: 0x1e, elpe: 255, npss: 4 },
      ...{ apsta: 1, wctemp: 356, cctemp: 358, mtfa: 50, hmpre: 16384, hmmin: 3584, tnvmcap: 256_060_514_304 },
      ...{ edstt: 9, dsto: 1, fwug: 1, hctma: 1, mntmt: 273, mxtmt: 358, sanicap: 0xa0000002, hmminds: 1 },
      ...{ hmmaxd: 1024, pels: 32, sqes: 0x66, cqes: 0x44, nn: 1, oncs: 0xdf, fuses: 1, vwc: 7, awun: 31, acwu: 31 },
    },
  },
  {
    name: 'WDC PC SN530 256 GB',
    source: 'github.com/raspberrypi/linux, issue 6228 (nvme id-ctrl -H; the part from EDSTT to MEGCAP)',
    values: {
      ...{ vid: 0x15b7, ssvid: 0x15b7, sn: 'SERIAL', mn: 'WDC PC SN530 SDBPMPZ-256G-1101', edstt: 44, dsto: 1 },
      ...{ fwug: 1, hctma: 1, mntmt: 273, mxtmt: 358, sanicap: 0x60000002, hmmaxd: 8, pels: 1 },
    },
  },
  {
    name: 'SanDisk Ultra 3D NVMe 500 GB (WD Blue SN550)',
    source: 'github.com/raspberrypi/linux, issue 6195 (nvme id-ctrl -H; up to OAES, and from HMMINDS to FNA)',
    values: {
      ...{ vid: 0x15b7, ssvid: 0x15b7, sn: 'SERIAL', mn: 'SanDisk Ultra 3D NVMe', fr: '211070WD', rab: 4 },
      ...{ ieee: '001b44', mdts: 7, cntlid: 1, ver: 0x10400, rtd3r: 0x7a120, rtd3e: 0xf4240, oaes: 0x200 },
      ...{ hmmaxd: 8, pels: 1, sqes: 0x66, cqes: 0x44, nn: 1, oncs: 0x5f },
    },
  },
  {
    name: 'KINGSTON SNV2S250G',
    source: 'github.com/FOGProject/fos, issue 72 (nvme id-ctrl)',
    values: {
      ...{ vid: 0x2646, ssvid: 0x2646, sn: 'SERIAL', mn: 'KINGSTON SNV2S250G', fr: 'ELFK0S.4', rab: 4 },
      ...{ ieee: '0026b7', mdts: 6, ver: 0x10400, rtd3r: 0x186a0, rtd3e: 0x4c4b40, ctratt: 0x2, cntrltype: 1 },
      ...{ oacs: 0x17, acl: 3, aerl: 3, frmw: 0x12, lpa: 0x1e, elpe: 62, npss: 4, avscc: 1, apsta: 1, wctemp: 350 },
      ...{ cctemp: 352, mtfa: 100, hmpre: 16384, hmmin: 16384, tnvmcap: 250_059_350_016, edstt: 30, fwug: 4 },
      ...{ hctma: 1, mntmt: 273, mxtmt: 350, sanicap: 0xa0000002, hmminds: 1024, hmmaxd: 16, pels: 96, sqes: 0x66 },
      ...{ cqes: 0x44, maxcmd: 256, nn: 1, oncs: 0x57, vwc: 7 },
    },
  },
  {
    name: 'Micron 9200 1.6 TB',
    source: 'github.com/thomas-krenn/TKperf, issue 25 (nvme id-ctrl)',
    values: {
      ...{ vid: 0x1344, ssvid: 0x1344, sn: 'SERIAL', mn: 'Micron_9200_MTFDHAL1T6TCU', fr: '101008P0' },
      ...{ ieee: '00e0cf', mdts: 5, cntlid: 1, ver: 0x10200, rtd3r: 0xe4e1c0, rtd3e: 0x989680, oacs: 0xe, acl: 4 },
      ...{ aerl: 5, frmw: 7, lpa: 2, elpe: 62, avscc: 1, wctemp: 348, cctemp: 353, tnvmcap: 1_600_321_314_816 },
      ...{ sqes: 0x66, cqes: 0x44, nn: 1, oncs: 0x14, icsvscc: 1 },
    },
  },
  {
    name: 'OpenFlex Data24, over a fabric',
    source: 'github.com/linux-nvme/nvme-cli, issue 1733 (nvme wdc id-ctrl -H)',
    values: {
      ...{ vid: 0x1c58, ssvid: 0x1c58, sn: 'SERIAL', mn: 'OpenFlex Data24', fr: '1.0.2345', rab: 1, ieee: '000cca' },
      ...{ mdts: 5, cntlid: 0x800e, ver: 0x10300, ctratt: 0x40, vwci: 2, oacs: 4, acl: 3, aerl: 3, frmw: 3, lpa: 4 },
      ...{ tnvmcap: 16_777_216, fwug: 255, kas: 10, awun: 7, awupf: 7, icsvscc: 1, acwu: 7, sgls: 0x100005 },
      ...{ subnqn: 'nqn.1992-05.com.wdc.openflex-data24-3200-uscos02622qa000--ST3:nvme.13', ioccsz: 4, iorcsz: 1 },
      ...{ msdbd: 1 },
    },
  },
]

export const NAMESPACES: readonly Captured[] = [
  {
    name: 'QEMU 7.2.22, 64 MiB of 512-byte blocks',
    source: 'Identify CNS 00h sent to the emulated controller over its register interface',
    bytes: {
      0x002: '02000000000000000200000000000000020000000000140700031f0000000001',
      0x044: '070007',
      0x082: '090008000900100009004000090000000c0008000c0010000c0040000c',
    },
  },
  {
    name: 'QEMU 7.2.22, nvme-ns with ms=8,pi=1,nsid=5',
    source: 'Identify CNS 00h sent to the emulated controller over its register interface',
    bytes: {
      0x000: '033f000000000000033f000000000000033f000000000000140701031f0100000001',
      0x044: '0700070000008000800000007f',
      0x082: '090008000900100009004000090000000c0008000c0010000c0040000c',
    },
  },
  {
    name: 'a drive of 1 TB',
    source: 'github.com/storaged-project/udisks, issue 1194 (nvme id-ns -H; up to DPC)',
    values: { nsze: 0x773bd2b0, ncap: 0x773bd2b0, nuse: 0x6b6b9548 },
  },
]

export const HEALTH_LOGS: readonly Captured[] = [
  {
    name: 'QEMU 7.2.22',
    source: 'Get Log Page LID 02h sent to the emulated controller over its register interface',
    bytes: { 0x001: '4301' },
  },
  {
    name: 'SAMSUNG MZQLB1T9HAJR-00007',
    source: 'github.com/netdata/netdata, issue 8594 (nvme smart-log -o json)',
    values: {
      ...{ temperature: 322, avail_spare: 100, spare_thresh: 10, data_units_read: 23_665_821 },
      ...{ data_units_written: 7_000_791, host_read_commands: 151_746_402, host_write_commands: 184_324_030 },
      ...{ controller_busy_time: 136, power_cycles: 8, power_on_hours: 4221 },
      ...{ temperature_sensor_1: 322, temperature_sensor_2: 326, temperature_sensor_3: 330 },
    },
  },
  {
    name: 'WDC PC SN530 256 GB',
    source: 'github.com/raspberrypi/linux, issue 6228 (nvme smart-log -H)',
    values: {
      ...{ temperature: 299, avail_spare: 100, spare_thresh: 10, data_units_read: 58_670 },
      ...{ data_units_written: 56_463, host_read_commands: 829_446, host_write_commands: 255_675 },
      ...{ controller_busy_time: 3, power_cycles: 14, power_on_hours: 2, unsafe_shutdowns: 2 },
      ...{ num_err_log_entries: 1 },
    },
  },
  {
    name: 'a Samsung 970 EVO',
    source: 'github.com/linux-nvme/nvme-cli, issue 556 (nvme smart-log)',
    values: {
      ...{ temperature: 309, avail_spare: 100, spare_thresh: 10, data_units_read: 2_596_428 },
      ...{ data_units_written: 10_054_124, host_read_commands: 49_978_298, host_write_commands: 115_758_107 },
      ...{ controller_busy_time: 502, power_cycles: 688, power_on_hours: 912, unsafe_shutdowns: 27 },
      ...{ num_err_log_entries: 1, temperature_sensor_1: 309, temperature_sensor_2: 312 },
    },
  },
  {
    name: 'a drive at 7 billion reads',
    source: 'github.com/linux-nvme/nvme-cli, issue 48 (nvme smart-log)',
    values: {
      ...{ temperature: 307, avail_spare: 100, spare_thresh: 10, data_units_read: 203_913_228 },
      ...{ data_units_written: 64_663_716, host_read_commands: 7_207_810_975, host_write_commands: 2_931_291_530 },
      ...{ controller_busy_time: 399, power_cycles: 9, power_on_hours: 742 },
    },
  },
]
