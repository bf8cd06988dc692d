import { createInHand } from '../support/in-hand.ts'
import { inHandContract } from './in-hand.contract.ts'

let nowMs: () => number
const board = { made: createInHand({ nowMs: () => nowMs() }) }

/** The simulator and tests in virtual time have this one. */
inHandContract('in the memory of a test', () => {
  board.made = createInHand({ nowMs: () => nowMs() })
  return {
    process: (clock) => {
      nowMs = clock.nowMs
      return board.made
    },
    close: () => {},
  }
})
