import type { ErrorCategory } from '@gpunvme/nvme-spec/error'

/** Exit codes for scripts, documented in `gpunvme --help`. These numbers do not change. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  'not-found': 3,
  privilege: 4,
  device: 5,
  verification: 6,
  infeasible: 7,
  interrupted: 130,
} as const satisfies Record<ErrorCategory | 'ok', number>

/** One line each, for the help text. */
export const EXIT_HELP = `Exit codes:
  0  success                      4  permission denied, or overwrite refused
  1  failed                       5  device error
  2  wrong arguments              6  verification failed: wrong bytes
  3  not found                    7  impossible: too large, unsupported, or
  130  interrupted                   a file of the wrong format`
