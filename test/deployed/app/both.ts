import type { Controller } from 'setpoint'
import { greetings } from '../../../examples/greeting/greeting.ts'
import { counters } from './counters.ts'

export const reconcilers: readonly Controller[] = [greetings, counters]
