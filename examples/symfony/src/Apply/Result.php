<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Apply;

/** What became of one item. Everything but applied and already_applied has changed nothing. */
enum Result: string
{
    case Applied = 'applied';
    case AlreadyApplied = 'already_applied';
    case AlreadyDone = 'already_done';           // the operation has the next state, by another way
    case UnknownForm = 'unknown_form';           // a later form of the items than this bundle knows
    case Hidden = 'hidden';                      // its ids are redacted
    case Withdrawn = 'withdrawn';                // a later run has taken it back
    case ObserveOnly = 'observe_only';           // nobody is to act on it
    case Deferred = 'deferred';                  // the budget of the run was used up
    case NeedsApproval = 'needs_approval';       // people decide first
    case NotForUs = 'not_for_us';                // compensate and review, and queues of a later release
    case Incomplete = 'incomplete';              // a field that the decision needs is missing
    case Expired = 'expired';                    // the proof or the key does not hold any longer
    case UnknownOperation = 'unknown_operation'; // the register does not hold it
    case OtherKey = 'other_key';
    case OtherVersion = 'other_version';
    case OtherState = 'other_state';
    case OtherAttempts = 'other_attempts';       // somebody has called since
    case LiveLease = 'live_lease';               // somebody is calling now
    case HasResult = 'has_result';               // a remote id has come in since
    case NoMessage = 'no_message';               // nothing is left to dispatch
}
