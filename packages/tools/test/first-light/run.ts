import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runFirstLight, type FirstLightFlags } from '../../src/first-light/first-light.js'
import type { FirstLightReport, StepEntry, StepName } from '../../src/first-light/report.js'
import type { RunParts } from '../../src/first-light/run-steps.js'
import { Output } from '../../src/terminal/output.js'
import { testIo, testSession } from '../gpunvme.js'
import { problemsOf } from '../schema-check.js'

/** Returns the report in a file. It must fit its schema. */
export function readReport(path: string): FirstLightReport {
  const report = JSON.parse(readFileSync(path, 'utf8')) as FirstLightReport
  expect(problemsOf(report)).toEqual([])
  return report
}

/** Returns the outcomes of steps by their names. */
export function outcomesOf({ steps }: FirstLightReport): Partial<Record<StepName, string>> {
  return Object.fromEntries(steps.map(({ step, outcome }) => [step, outcome]))
}

export function stepIn({ steps }: FirstLightReport, name: StepName): StepEntry {
  return steps.find(({ step }) => step === name)!
}

export interface FirstLightRun {
  readonly code: number
  readonly report: FirstLightReport
  readonly text: string
  readonly stdout: string
}

/** Runs the steps on a drive that the test opens. */
export async function firstLight(
  folder: string,
  flags: FirstLightFlags,
  parts: Pick<RunParts, 'open' | 'findReach'> & { readonly signal?: AbortSignal },
): Promise<FirstLightRun> {
  const io = testIo()
  const { signal, ...more } = parts
  const session = { ...testSession(['first-light'], io), ...(signal && { signal }) }
  const path = join(folder, `report-${Math.random()}.json`)
  await runFirstLight({ sim: true, ...flags, output: path }, { output: new Output({}, io), session }, more)
  return { code: session.exitCode, report: readReport(path), text: readFileSync(path, 'utf8'), stdout: io.stdoutText() }
}
