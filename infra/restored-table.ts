/** A table that was restored, as it is named to a control plane. */
export interface RestoredTable {
  readonly table: string
  readonly stream: string
}

/** Parameters of a stack that name it, each behind the id of its control plane. */
export const restoredParameters: RestoredTable = { table: 'RestoredTable', stream: 'RestoredTableStream' }

/**
 * What they name while no restored table is used. CloudFormation's checks want texts that could be what they stand for.
 */
export const notRestored = 'none'
