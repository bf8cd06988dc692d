import type { Controller } from 'setpoint'
import { greetings } from '../../../examples/greeting/greeting.ts'

export const reconcilers: readonly Controller[] = [greetings]
