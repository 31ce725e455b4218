import type { Step } from './steps.js'

// Commands of nvme-cli that read only.

const D = '/dev/$D4'
const base64 = (command: string) => `set -o pipefail; ${command} | base64 -w0`

export const ASKED: readonly Step[] = [
  { name: 'list', run: 'nvme list -o json' },
  { name: 'id-ctrl', run: `nvme id-ctrl ${D} -o json` },
  { name: 'id-ctrl bytes', run: base64(`nvme id-ctrl ${D} -b`) },
  { name: 'id-ns 1 bytes', run: base64(`nvme id-ns ${D} -n 1 -b`) },
  { name: 'id-ns 3 bytes', run: base64(`nvme id-ns ${D} -n 3 -b`) },
  { name: 'id-ns 3', run: `nvme id-ns ${D} -n 3 -o json` },
  { name: 'list-ns', run: `nvme list-ns ${D} -o json` },
  { name: 'list-ns --all', run: `nvme list-ns ${D} --all -o json` },
  { name: 'ns-descs', run: 'nvme ns-descs /dev/$D4_N1 -o json' },
  { name: 'smart-log', run: `nvme smart-log ${D} -o json` },
  { name: 'error-log', run: `nvme error-log ${D} -e 4 -o json` },
  { name: 'fw-log', run: base64(`nvme fw-log ${D} -b`) },
  { name: 'effects-log', run: `nvme effects-log ${D} -o json` },
  { name: 'show-regs', run: `nvme show-regs ${D} -o json` },
  { name: 'temperature threshold', run: `nvme get-feature ${D} -f 4` },
  { name: 'number of queues', run: `nvme get-feature ${D} -f 7` },
  { name: 'volatile write cache', run: `nvme get-feature ${D} -f 6` },
  {
    name: 'sys',
    run: `cd /sys/class/nvme/$D4; ln -s $PWD/$D4_N1 /tmp/one; ln -s $PWD/$D4_N3 /tmp/three; for f in model serial firmware_rev cntlid state /tmp/one/size /tmp/one/queue/logical_block_size /tmp/one/eui /tmp/one/nguid /tmp/three/size /tmp/three/queue/logical_block_size /tmp/one/queue/max_hw_sectors_kb device/vendor device/device device/class; do echo "$f=$(cat $f)"; done`,
  },
]
