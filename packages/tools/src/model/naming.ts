import { NAMING_SCHEMES, type NamingSchemeName } from '@gpunvme/layer-loader/formats'
import { Option, type Command } from 'commander'
import { UsageError } from '../command-line/tools-error.js'

/** Flags of a verb that groups the tensors of a model file into layers. */
export interface NamingFlags {
  readonly naming?: NamingSchemeName
}

export function addNamingOption(command: Command): void {
  command.addOption(
    new Option('--naming <scheme>', 'tensor naming scheme for layers and experts (default: all)').choices(
      NAMING_SCHEMES.map(({ name }) => name),
    ),
  )
}

/** @throws UsageError for a packed model, whose layers were determined when it was packed. */
export function refuseNamingOfPacked({ naming }: NamingFlags): void {
  if (naming === undefined) return
  throw new UsageError('--naming does not apply to a packed model: its layers were determined when it was packed', {
    next: { command: ['pack', 'MODEL', '--image', 'FILE', '--naming', naming, '--replace'] },
  })
}
