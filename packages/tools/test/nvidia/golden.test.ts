import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { fit } from '../../src/terminal/fit.js'
import { INSTALLED } from '../../src/terminal/invocation.js'
import { adviseDriver } from '../../src/nvidia/advice.js'
import { describeAdvice, describeDriver } from '../../src/nvidia/describe-driver.js'
import { readNvidia } from '../../src/nvidia/read-driver.js'
import { NVIDIA_STATES, writeNvidiaState, type NvidiaStateName } from './states.js'

// UPDATE=1 writes the files; review them before a commit.
test.each(Object.keys(NVIDIA_STATES) as NvidiaStateName[])(
  'the printed state and advice for %s match the reviewed text',
  async (name) => {
    const root = scratch()
    writeNvidiaState(root, name)
    const driver = await readNvidia(root)
    const advice = adviseDriver(driver, '/')
    const lines = [...describeDriver(driver), '', ...describeAdvice(advice, INSTALLED), ''].flatMap((line) =>
      fit(line, 80, INSTALLED.program),
    )
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const golden = join(import.meta.dirname, 'golden', `${name}.txt`)
    if (process.env['UPDATE'] === '1') {
      mkdirSync(join(import.meta.dirname, 'golden'), { recursive: true })
      writeFileSync(golden, lines.join('\n'))
    }
    expect(existsSync(golden)).toBe(true)
    expect(lines.join('\n')).toBe(readFileSync(golden, 'utf8'))
  },
)
