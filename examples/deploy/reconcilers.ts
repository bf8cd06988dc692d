import type { Controller } from 'setpoint'
import { greetings } from '../greeting/greeting.ts'

export const reconcilers: readonly Controller[] = [greetings]
