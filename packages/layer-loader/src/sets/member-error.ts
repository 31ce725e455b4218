import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'

/** Operation that failed on a member. */
export type MemberVerb = 'read' | 'write' | 'flush'

/** A member, for messages. */
export interface NamedMember {
  readonly index: number
  readonly name: string
}

export function memberName({ index, name }: NamedMember): string {
  return `member ${index} (${name})`
}

/** Error of a member whose part no other member has. The member's error is the cause. */
export class SetMemberError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SET_MEMBER'
  readonly category: ErrorCategory
  /** Index of the member. */
  readonly member: number
  declare readonly cause: GpuNvmeError

  constructor(set: string, verb: MemberVerb, member: NamedMember, cause: GpuNvmeError, next: string) {
    super(`${set}: ${memberName(member)} failed to ${verb}`, { facts: [cause.headline], next, cause })
    this.category = cause.category
    this.member = member.index
  }
}

/** Returns the error that caused a member error, also through nested sets; any other error unchanged. */
export function behindMember(error: unknown): unknown {
  return error instanceof SetMemberError ? behindMember(error.cause) : error
}
