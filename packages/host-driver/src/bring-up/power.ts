import {
  AutonomousPowerStateTransition,
  AutonomousPowerStateTransitions,
  countOf,
  FID,
  GetFeatures,
  IdentifyController,
  PowerManagement,
  SetFeatures,
} from '@gpunvme/nvme-spec'
import type { CommandData } from '../commands/single-command.js'
import type { Session, SetupStep } from './session.js'
import { tryFeature } from './try-feature.js'

/**
 * Keeps a drive awake while it is open: power state 0 and no autonomous transitions, since leaving a low-power state
 * takes milliseconds. Before a shutdown, restores the settings found at the first start.
 */
export class FullPower implements SetupStep {
  /** CDW11 of Power Management as found at the first start; undefined if it could not be read or changed. */
  private state: number | undefined
  private transitions: { readonly wasEnabled: boolean; readonly table: CommandData } | undefined

  async apply(session: Session): Promise<void> {
    const { NPSS, APSTA } = IdentifyController.view(session.identity.raw)
    if (countOf(NPSS) > 1) {
      await tryFeature(session, 'power state 0', () => this.setState(session))
    }
    if (IdentifyController.APSTA.APTS.of(APSTA) === 1) {
      await tryFeature(session, 'no autonomous power state transitions', () => this.stopTransitions(session))
    }
  }

  async undo({ admin }: Session): Promise<void> {
    const { transitions, state } = this
    if (transitions?.wasEnabled === true) {
      const CDW11 = AutonomousPowerStateTransition.CDW11.encode({ APSTE: 1 })
      const data = transitions.table
      await admin.execute(SetFeatures, { FID: FID.AUTONOMOUS_POWER_STATE_TRANSITION, CDW11 }, { data })
    }
    if (state !== undefined && PowerManagement.CDW11.PS.of(state) !== 0) {
      await admin.execute(SetFeatures, { FID: FID.POWER_MANAGEMENT, CDW11: state })
    }
  }

  private async setState({ admin }: Session): Promise<void> {
    const found = await admin.execute(GetFeatures, { FID: FID.POWER_MANAGEMENT })
    const { PS, WH } = PowerManagement.CDW11.decode(found)
    if (PS !== 0) {
      await admin.execute(SetFeatures, {
        FID: FID.POWER_MANAGEMENT,
        CDW11: PowerManagement.CDW11.encode({ PS: 0, WH }),
      })
    }
    this.state ??= found
  }

  private async stopTransitions({ admin, pool, limits }: Session): Promise<void> {
    const { bytes: lengthBytes } = AutonomousPowerStateTransitions
    const table = this.transitions?.table ?? {
      memory: pool.alloc(limits.pageBytes, { contiguous: true, alignBytes: limits.pageBytes }),
      offsetBytes: 0,
      lengthBytes,
    }
    // After a reset, the table found at the first start is still the one to restore.
    if (this.transitions === undefined) {
      const dw0 = await admin.execute(GetFeatures, { FID: FID.AUTONOMOUS_POWER_STATE_TRANSITION }, { data: table })
      table.memory.forHost(0, lengthBytes)
      const wasEnabled = AutonomousPowerStateTransition.CDW11.APSTE.of(dw0) === 1
      this.transitions = { wasEnabled, table }
    }
    table.memory.forDevice(0, lengthBytes)
    const CDW11 = AutonomousPowerStateTransition.CDW11.encode({ APSTE: 0 })
    await admin.execute(SetFeatures, { FID: FID.AUTONOMOUS_POWER_STATE_TRANSITION, CDW11 }, { data: table })
  }
}
