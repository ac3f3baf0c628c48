// Package rehearsal asks of stored runs what would have happened: had their proposals
// been acted on (readiness), or had other rules judged them (whatif). Nothing that was
// published is changed.
//
// # Readiness
//
// An absence that was proposed for requeue is a claim: there is no effect. What a later
// night found under the keys of the operation speaks for or against it:
//
//	contradicted  the effect is dated before the reference time of the absence; or it
//	              came later, while no new attempt had been made, so that the requeue
//	              would have come on top of it; or there are two effects
//	held          the operation was looked at again and nothing speaks against it, or
//	              its effect is dated after an attempt that was made since
//	unclear       there is a result, and the files do not tell which attempt it belongs
//	              to, or whether it is an effect
//	not seen      no later night has the operation, nor a result under its keys
//
// Only contradicted and held absences are counted; the others are shown. Where an
// operation was proposed in several nights, it counts once, as the worst of them.
//
// The upper bound is that of Clopper and Pearson (Biometrika 26, 1934, 404–413), exact
// and one-sided: at a greater share, so few contradictions or fewer would be seen in
// less than 5 of 100 cases. It presumes that the operations are independent, which an
// outage makes untrue: it is a bound on chance and not on surprise.
package rehearsal
