// Binds to vfio-pci before it is loaded, and before VFIO may be used without an IOMMU: both attempts fail. Then enables
// it.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fixed, print, take } from './lib.js'
import { Refusals } from './refusals-of.js'

const PARAMETER = '/sys/module/vfio/parameters/enable_unsafe_noiommu_mode'
const FOLDER = '/tmp/vm/modules'

const refusals = new Refusals()
await refusals.of('noDriver', () => take(fixed))
for (const line of readFileSync(`${FOLDER}/order`, 'utf8').trim().split('\n')) {
  const name = line.trim()
  execFileSync('/tmp/vm/busybox', ['insmod', `${FOLDER}/${name}.ko`])
}
await refusals.of('notEnabled', () => take(fixed))
writeFileSync(PARAMETER, '1')
print({ refusals: refusals.found, parameter: readFileSync(PARAMETER, 'utf8').trim() })
