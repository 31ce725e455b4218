// What the guest executes while nothing reads: the ground that all figures stand on.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { print } from './lib.js'
import { between, instant, order } from './peer-window.js'

const clocksource = readFileSync('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'utf8').trim()
const first = instant()
await sleep(order.windowMs)
// QEMU's clock for days and years is the machine's own: by it one can see whether the guest's time is right.
const aheadMs = Date.now() - Number(readFileSync('/sys/class/rtc/rtc0/since_epoch', 'utf8')) * 1000
print({ driver: 'nothing', shape: '', ios: 0, ...between(first, instant()), clocksource, aheadMs })
