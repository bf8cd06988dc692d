/** For tables: two digits tell enough, and a little more or less is the same text. */
export function amountText(amount: number): string {
  return amount.toLocaleString('en', { maximumSignificantDigits: 2 })
}

export function moneyText(usd: number): string {
  return `$${usd.toFixed(2)}`
}
