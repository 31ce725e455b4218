// Measures the instructions that an idle guest executes: the baseline of all figures.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { print } from './lib.js'
import { between, instant, order } from './peer-window.js'

const clocksource = readFileSync('/sys/devices/system/clocksource/clocksource0/current_clocksource', 'utf8').trim()
const first = instant()
await sleep(order.windowMs)
// QEMU's RTC follows the host's clock, and shows whether the guest's clock runs at the right speed.
const aheadMs = Date.now() - Number(readFileSync('/sys/class/rtc/rtc0/since_epoch', 'utf8')) * 1000
print({ driver: 'nothing', shape: '', ios: 0, ...between(first, instant()), clocksource, aheadMs })
