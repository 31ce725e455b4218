import {
  DEFAULT_UNIT_BYTES,
  MIN_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  MAX_MEMBERS,
  MAX_UNIT_BYTES,
  type SetKind,
} from '@gpunvme/layer-loader/sets'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { UsageError } from '../command-line/tools-error.js'
import { formatBytes, parseBytes } from '../terminal/units.js'

export interface SetFlags {
  readonly stripe?: boolean
  readonly mirror?: boolean
  readonly stripeUnit?: number
}

/** The requested kind of set. */
export interface SetShape {
  readonly kind: SetKind
  /** Stripe unit in bytes; undefined if not given, and for a mirror. */
  readonly unitBytes: number | undefined
}

export function addSetOptions(command: Command): void {
  command
    .option('--stripe', 'create a stripe of the drives: speeds and sizes add up; if one drive is lost, all is lost')
    .option('--mirror', 'create a mirror of the drives: each holds all models, and reads are divided among them')
    .addOption(
      new Option(
        '--stripe-unit <size>',
        'with --stripe: bytes on one drive before the next one follows (default: 1MiB)',
      ).argParser(unit),
    )
}

/** @throws UsageError for contradictory options, and for an invalid number of drives */
export function shapeOf(
  { stripe = false, mirror = false, stripeUnit }: SetFlags,
  drives: number,
): SetShape | undefined {
  if (stripe && mirror)
    throw new UsageError('--stripe and --mirror are mutually exclusive', { next: 'omit one of them' })
  if (stripeUnit !== undefined && !stripe)
    throw new UsageError('--stripe-unit requires --stripe', { next: 'omit --stripe-unit' })
  if (!stripe && !mirror) return undefined
  const kind = stripe ? 'stripe' : 'mirror'
  if (drives < 2 || drives > MAX_MEMBERS)
    throw new UsageError(`--${kind} requires 2 to ${MAX_MEMBERS} drives, got ${drives}`, {
      next: 'use --drive A --drive B, or --image A --image B',
    })
  return { kind, unitBytes: stripeUnit }
}

/** Returns the required size of each drive of a new set for an image of that length. */
export function memberBytesFor({ kind, unitBytes = DEFAULT_UNIT_BYTES }: SetShape, drives: number, imageBytes: number) {
  const units = Math.ceil(imageBytes / unitBytes)
  const dataBytes = kind === 'mirror' ? imageBytes : Math.ceil(units / drives) * unitBytes
  return MEMBER_DATA_BYTES + Math.max(MEMBER_DATA_BYTES, dataBytes)
}

function unit(text: string): number {
  const bytes = parseBytes(text)
  const fits =
    bytes !== undefined && bytes >= MIN_UNIT_BYTES && bytes <= MAX_UNIT_BYTES && Number.isInteger(Math.log2(bytes))
  if (!fits)
    throw new InvalidArgumentError(
      `Expected a power of two from ${formatBytes(MIN_UNIT_BYTES)} to ${formatBytes(MAX_UNIT_BYTES)}.`,
    )
  return bytes
}
