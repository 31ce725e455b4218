// Binds a drive to vfio-pci and returns it, on a machine with an IOMMU.
import {
  BUSY,
  fill,
  GPUNVME,
  gpunvme,
  linuxName,
  mounted,
  mountRun,
  print,
  remembered,
  reportIn,
  SPARE,
  start,
  stateOf,
  until,
} from './lib-of-binding.js'

mountRun()
const { bdf, serial } = SPARE
const confirmed = ['--serial', serial, '--yes']
const name = await linuxName(bdf)
const before = stateOf(bdf)

print({ case: 'list', before, listed: gpunvme('list', '--json') })
print({ case: 'dry-run', plan: gpunvme('bind', name, '--dry-run', '--json'), after: stateOf(bdf) })
print({ case: 'bind', ended: gpunvme('bind', name, ...confirmed, '--json'), after: stateOf(bdf) })
print({ case: 'identify', ended: gpunvme('nvme', 'identify', '--drive', bdf, '--json') })
print({ case: 'bound', listed: gpunvme('list', bdf, '--json') })
print({ case: 'unbind', ended: gpunvme('unbind', name, '--json'), after: stateOf(bdf), name: await linuxName(bdf) })
print({ case: 'serial', ended: gpunvme('bind', bdf, '--serial', 'OTHER', '--yes'), after: stateOf(bdf) })

const refused = await mounted(BUSY.bdf, () => gpunvme('bind', BUSY.bdf, '--serial', BUSY.serial, '--yes'))
print({ case: 'mounted', ended: refused, after: stateOf(BUSY.bdf) })

const run = gpunvme('bind', bdf, ...confirmed, '--', ...GPUNVME, 'nvme', 'identify', '--drive', bdf, '--json')
print({ case: 'command', ended: run, after: stateOf(bdf) })

{
  fill(`/dev/${await linuxName(bdf)}n1`)
  const path = '/tmp/first-light.json'
  const ended = gpunvme('first-light', '--drive', await linuxName(bdf), ...confirmed, '--output', path)
  print({ case: 'first-light', ended, after: stateOf(bdf), name: await linuxName(bdf), report: reportIn(path) })
}

{
  const path = '/tmp/first-light-killed.json'
  const { child, ended } = start('first-light', '--drive', bdf, ...confirmed, '--output', path)
  await until(() => stateOf(bdf).driver === 'vfio-pci' && stateOf(bdf).power === 'on', 'the drive is bound')
  child.kill('SIGKILL')
  const said = await ended
  print({ case: 'first-light killed', said, after: stateOf(bdf), name: await linuxName(bdf), report: reportIn(path) })
}

{
  const { child, ended } = start('bind', bdf, ...confirmed, '--', 'sleep', '1000')
  await until(() => stateOf(bdf).driver === 'vfio-pci' && stateOf(bdf).power === 'on', 'the drive is bound')
  child.kill('SIGKILL')
  const said = await ended
  print({ case: 'killed', said, after: stateOf(bdf) })
}

{
  const { child, ended } = start('bind', bdf, ...confirmed)
  await remembered()
  child.kill('SIGKILL')
  await ended
  const listed = gpunvme('list', bdf, '--json')
  print({
    case: 'killed early',
    listed,
    ended: gpunvme('unbind', bdf),
    after: stateOf(bdf),
    name: await linuxName(bdf),
  })
}
