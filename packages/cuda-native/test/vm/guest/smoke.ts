// Checks the harness itself: Node runs, and the kernel's driver owns the drives.
import { readdirSync, readFileSync } from 'node:fs'

const read = (path: string) => readFileSync(path, 'utf8').trim()
const drives = readdirSync('/sys/class/nvme').map((name) => ({
  serial: read(`/sys/class/nvme/${name}/serial`),
  bytes: Number(read(`/sys/block/${name}n1/size`)) * 512,
}))
const bySerial = drives.sort((a, b) => a.serial.localeCompare(b.serial))
process.stdout.write(`${JSON.stringify({ drives: bySerial })}\n`)
