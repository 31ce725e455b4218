// At the end, the kernel's driver owns the controller again, and can read from it.
import { closeSync, openSync, readSync } from 'node:fs'
import { driverOf, fixed, kernelDevices, print } from './lib.js'

const { namespace } = await kernelDevices(fixed)
const file = openSync(namespace, 'r')
const bytes = readSync(file, Buffer.alloc(4096), 0, 4096, 0)
closeSync(file)
print({ driver: driverOf(fixed), bytes })
