/** The option of commands that concern a control plane on this machine. */
export const dataDirectory = {
  'data-dir': { type: 'string', default: process.env['SETPOINT_DATA_DIR'] || '.setpoint' },
} as const
