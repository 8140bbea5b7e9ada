import { describeLedger } from './ledger.ts';

describeLedger(60);
